/**
 * What a whole durable run costs, from its start to its stored end, one at a time and 50 at a time, alone or beside another checkout of
 * servable: `node bench/durable.ts [sqlite | postgres] [other checkout]`. On PostgreSQL, whose commits wait for the disk, it also counts
 * the statements of a run. A model agent is also compared with itself without `resume`. `bench/peers/postgres.ts` compares with Mastra.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { startPostgres } from '../test/runtimes/postgres/server.ts'
import { compare, median, table } from './measure.ts'
import { upper as loud, scriptedModel, TOOL_NAMES } from './scripted-model.ts'

const [kind = 'sqlite', other] = process.argv.slice(2)
const RUNS = 200
/** Its statements are counted, and nothing else, since it takes as long as its agent. */
const FOLLOWED = 'a followed stream of 100 pieces, 5 ms apart, that goes on after a crash'
/** An agent with a scripted model and two tools, with `resume` and without. */
const RESUMES = 'a model agent with two tools'
const ENDS = 'the same without `resume`'
const ROUNDS = 9

const folder = mkdtempSync(join(tmpdir(), 'servable-bench-'))
const server =
  kind === 'postgres'
    ? await startPostgres({
        isDurable: true,
        settings: ['shared_preload_libraries=pg_stat_statements'],
      })
    : undefined

type Whole = () => Promise<void>

/** Each shape of run, whole: a request that is answered once the end is stored. */
async function shapesOf(checkout: string, name: string): Promise<Record<string, Whole>> {
  const load = (path: string) => import(join(checkout, 'src', path))
  const { Agent, createHandler, steps, Workflow } = (await load(
    'index.ts',
  )) as typeof import('../src/index.ts')
  const { sqliteState } = (await load('runtimes/sqlite.ts')) as typeof import('../src/runtimes/sqlite.ts')
  const { postgresState } = (await load(
    'runtimes/postgres.ts',
  )) as typeof import('../src/runtimes/postgres.ts')
  const { ModelAgent } = (await load(
    'adapters/model-agent/index.ts',
  )) as typeof import('../src/adapters/model-agent/index.ts')
  const parameters = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
  const execute = (args: unknown) => loud(args as { text: string })
  const tools = TOOL_NAMES.map(name => ({ name, parameters, execute }))
  const model = { model: scriptedModel, tools, register: false }
  async function* streams() {
    for (let piece = 0; piece < 100; piece++) {
      yield { type: 'text', text: `piece ${piece} ` } as const
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  }
  const upper = (input: unknown) => String(input).toUpperCase()
  const one = steps().step('one', upper)
  const state = server
    ? postgresState({ url: server.url, schema: name })
    : sqliteState({ path: join(folder, `${name}.db`) })
  const handler = createHandler({
    serve: [
      new Workflow({ name: 'one', register: false, steps: one }),
      new Workflow({ name: 'three', register: false, steps: one.step('two', upper).step('three', upper) }),
      new Agent({
        name: 'talks',
        register: false,
        async *run() {
          for (let piece = 0; piece < 20; piece++) yield { type: 'text', text: `piece ${piece} ` } as never
        },
      }),
      new Workflow({ name: 'streams', register: false, run: streams }),
      new ModelAgent({ ...model, name: 'resumes', resume: true }),
      new ModelAgent({ ...model, name: 'ends', resume: false }),
    ],
    registry: false,
    logger: false,
    state,
    runs: { maxRunningPerOwner: 1000 },
  })
  const whole =
    (path: string, act = 'run') =>
    async () => {
      const body = JSON.stringify({ input: 'x', background: true })
      const headers = { 'content-type': 'application/json' }
      const response = await handler(
        new Request(`http://127.0.0.1/api/${path}/${act}`, { method: 'POST', headers, body }),
      )
      const text = await response.text()
      if (response.status !== 200) throw new Error(`The run failed: ${text}`)
    }
  return {
    'a workflow of one step': whole('workflows/one'),
    'a workflow of three steps': whole('workflows/three'),
    'an agent that says 20 pieces': whole('agents/talks'),
    [RESUMES]: whole('agents/resumes'),
    [ENDS]: whole('agents/ends'),
    [FOLLOWED]: whole('workflows/streams', 'stream'),
  }
}

/** Milliseconds of a run, so many at a time. */
async function perRun(whole: Whole, atATime: number): Promise<number> {
  let left = RUNS
  const startedAt = performance.now()
  const worker = async () => {
    while (left-- > 0) await whole()
  }
  await Promise.all(Array.from({ length: atATime }, worker))
  return (performance.now() - startedAt) / RUNS
}

/** Statements of a run on PostgreSQL, without the lease, and without the first run, which makes the schema. */
async function statements(whole: Whole, runs: number): Promise<string> {
  const { default: postgres } = await import('postgres')
  const sql = postgres(server!.url, { max: 1, onnotice: () => {} })
  await sql`CREATE EXTENSION IF NOT EXISTS pg_stat_statements`
  await whole()
  await sql`SELECT pg_stat_statements_reset()`
  const [before] = await sql`SELECT pg_current_wal_lsn() AS at`
  for (let run = 0; run < runs; run++) await whole()
  const [wal] = await sql`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), ${before!.at}) AS bytes`
  const rows = await sql`
    SELECT CASE WHEN query LIKE '%commit\_%' THEN 'commits' ELSE 'looks' END AS what, sum(calls)::float AS calls
    FROM pg_stat_statements WHERE query LIKE '%commit\_%' OR query LIKE '%look\_%' GROUP BY 1 ORDER BY 1`
  await sql.end()
  const calls = rows.map(({ what, calls }) => `${(calls / runs).toFixed(2)} ${what}`)
  return [...calls, `${(Number(wal!.bytes) / runs / 1000).toFixed(1)} kB of WAL`].join(', ')
}

try {
  const own = await shapesOf(resolve(import.meta.dirname, '..'), 'own')
  const theirs = other === undefined ? undefined : await shapesOf(resolve(other), 'theirs')
  const comparisons = []
  for (const [name, whole] of Object.entries(own)) {
    if (server !== undefined)
      console.log(`${name}: ${await statements(whole, name === FOLLOWED ? 10 : RUNS)}`)
    if (name === FOLLOWED || name === ENDS) continue
    for (const atATime of [1, 50]) {
      const title = `${name}, ${atATime} at a time`
      if (theirs === undefined) {
        const times: number[] = []
        for (let round = 0; round < ROUNDS; round++) times.push(await perRun(whole, atATime))
        console.log(`${title}: ${median(times).toFixed(2)} ms`)
      } else {
        const measured = () => perRun(whole, atATime)
        const reference = () => perRun(theirs[name]!, atATime)
        comparisons.push(await compare(title, 'ms', { measured, reference }, ROUNDS))
        console.log(table(comparisons.slice(-1), ['this', 'other']).split('\n').at(-1))
      }
    }
  }
  if (comparisons.length > 0) console.log(`\n${table(comparisons, ['this', 'other'])}`)
  const resumes = []
  for (const atATime of [1, 50]) {
    const measured = () => perRun(own[RESUMES]!, atATime)
    const reference = () => perRun(own[ENDS]!, atATime)
    resumes.push(await compare(`${RESUMES}, ${atATime} at a time`, 'ms', { measured, reference }, ROUNDS))
  }
  console.log(`\n${table(resumes, ['with `resume`', 'without'])}`)
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
  process.exit()
}
