/**
 * What a durable run keeps and writes: `node bench/kept.ts [sqlite] [postgres]`. Three runs: an answer in 8,110 pieces, a workflow
 * of 77 steps, and an agent with five tool calls of 1 MB each. For each store it says rows, bytes, commits, the bytes of the write-ahead log
 * and milliseconds, and what is left once the run is folded. Then a JSON run, stored and plain.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { ModelAgent } from '../src/adapters/model-agent/index.ts'
import { Agent, createHandler, steps, Workflow } from '../src/index.ts'
import { foldRun } from '../src/runs/stored/folding.ts'
import { postgresState } from '../src/runtimes/postgres.ts'
import { openDatabase, sqliteState } from '../src/runtimes/sqlite.ts'
import { postgresDriver } from '../src/stores/postgres/driver.ts'
import { startPostgres } from '../test/runtimes/postgres/server.ts'
import { modelThat, PAGE_TOOL } from './kept-model.ts'
import { INPUT, type KeptShape, page, ROUNDS, SHAPES, STEPS, shown, stepped } from './kept-shapes.ts'
import { type Comparison, compare, microseconds, table } from './measure.ts'

const folder = mkdtempSync(join(tmpdir(), 'servable-bench-'))

const PATHS = { pieces: 'agents/speaks', steps: 'workflows/steps', tools: 'agents/calls' } as const

let workflow = steps().step('step', (input: unknown) => stepped(input, 0))
for (let index = 1; index < STEPS; index++)
  workflow = workflow.step(`step-${index}`, (input: unknown) => stepped(input, index)) as never

const tool = {
  ...{ name: PAGE_TOOL, description: 'Reads a page' },
  parameters: { type: 'object', properties: { page: { type: 'number' } }, required: ['page'] },
  execute: (args: unknown) => page((args as { page: number }).page),
}

/** A store, and how to look into it. */
interface Kept {
  readonly state: ReturnType<typeof sqliteState>
  /** Rows and bytes of all that is stored. */
  amount(): Promise<{ rows: number; bytes: number }>
  /** Bytes of the write-ahead log until now. */
  wal(): Promise<number>
  /** The commits of runs until now; undefined where nothing counts them. */
  commits(): Promise<number | undefined>
  stop(): Promise<void>
}

const OPENERS: Readonly<Record<string, () => Promise<Kept>>> = {
  async sqlite() {
    const path = join(folder, `${crypto.randomUUID()}.db`)
    const state = sqliteState({ path })
    const read = openDatabase(path)
    return {
      state,
      async amount() {
        const [documents] = read.all(
          'SELECT count(*) AS n, total(length(CAST(collection || id || partition || tags || value AS BLOB)) + 16) AS b FROM documents',
        )
        const [parts] = read.all(
          'SELECT count(*) AS n, total(length(CAST(data AS BLOB)) + 16) AS b FROM document_parts',
        )
        const [entries] = read.all(
          'SELECT count(*) AS n, total(length(CAST(data AS BLOB)) + 16) AS b FROM entries',
        )
        const all = [documents, parts, entries]
        return {
          rows: all.reduce((sum, row) => sum + Number(row?.n), 0),
          bytes: all.reduce((sum, row) => sum + Number(row?.b), 0),
        }
      },
      wal: async () => statSync(`${path}-wal`).size,
      commits: async () => undefined,
      async stop() {
        read.close()
        await state.store.close()
      },
    }
  },
  async postgres() {
    const server = await startPostgres({ isDurable: true })
    const state = postgresState({ url: server.url })
    const driver = postgresDriver(server.url, { max: 1, prepare: false, ssl: undefined })
    const one = async (sql: string) => Number((await driver.query(sql, []))[0]?.is)
    return {
      state,
      async amount() {
        const count = (name: string) => one(`SELECT count(*)::float8 AS is FROM servable.${name}`)
        const size = (name: string) =>
          one(`SELECT coalesce(sum(pg_column_size(t.*)), 0)::float8 AS is FROM servable.${name} t`)
        return {
          rows: (await count('documents')) + (await count('entries')),
          bytes: (await size('documents')) + (await size('entries')),
        }
      },
      wal: () => one("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS is"),
      commits: () => one('SELECT count(*)::float8 AS is FROM servable.commits'),
      async stop() {
        await driver.end()
        await state.store.close()
        await server.stop()
      },
    }
  },
}

type Ask = (to: string) => Promise<string>

/** Asks a service over a store for a run, and gives the run's id. */
function askOver({ state }: Kept, store: 'all' | 'asked' = 'all'): Ask {
  const named = (name: string) => ({ name, register: false })
  const handler = createHandler({
    agents: {
      speaks: new ModelAgent({ ...named('speaks'), model: modelThat('speaks') }),
      calls: new ModelAgent({
        ...named('calls'),
        model: modelThat('calls'),
        tools: [tool],
        maxSteps: ROUNDS + 1,
      }),
      echo: new Agent({ ...named('echo'), run: input => String(input) }),
    },
    workflows: { steps: new Workflow({ ...named('steps'), steps: workflow }) },
    middleware: [
      (_, context, next) => {
        context.identity = { id: 'someone' }
        return next()
      },
    ],
    ...{ state, runs: { store }, logger: false },
  })
  return async to => {
    const body = JSON.stringify({ input: INPUT })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    const answer = await handler(new Request(`http://localhost/api/${to}/run`, init))
    await answer.text()
    if (!answer.ok) throw new Error(`${to}: ${answer.status}`)
    return answer.headers.get('x-run-id') ?? ''
  }
}

const asked = process.argv.slice(2)
const kinds = asked.length > 0 ? asked : Object.keys(OPENERS)
console.log(
  '| store | run | its bytes | rows | bytes | commits | WAL | ms | folded: rows | bytes | of its bytes |',
)
console.log('|---|---|---|---|---|---|---|---|---|---|---|')
for (const kind of kinds) {
  for (const [shape, { what, bytes: own }] of Object.entries(SHAPES)) {
    const kept = await OPENERS[kind]!()
    const ask = askOver(kept)
    await ask('agents/echo')
    const [before, wal, commits] = [await kept.amount(), await kept.wal(), await kept.commits()]
    const begin = performance.now()
    const id = await ask(PATHS[shape as KeptShape])
    const ms = performance.now() - begin
    const written = [commits && (await kept.commits())! - commits, (await kept.wal()) - wal, ms]
    const after = await kept.amount()
    await kept.state.store.write(tx => foldRun(tx, id))
    const folded = await kept.amount()
    const grown = (amount: typeof before) => [amount.rows - before.rows, amount.bytes - before.bytes]
    const figures = [own, ...grown(after), ...written, ...grown(folded)].map(shown)
    const ratio = ((folded.bytes - before.bytes) / own).toFixed(2)
    console.log(`| ${[kind, what, ...figures, ratio].join(' | ')} |`)
    await kept.stop()
  }
}

console.log(
  "\nA JSON run that says its input, stored as every run is, and plain with `runs.store: 'asked'`:\n",
)
const RUNS = 200
const comparisons: Comparison[] = []
for (const kind of kinds) {
  const kept = await OPENERS[kind]!()
  const timed = (ask: Ask) => async () => (await microseconds(RUNS, () => ask('agents/echo'))) / 1000
  const [measured, reference] = [timed(askOver(kept)), timed(askOver(kept, 'asked'))]
  await measured()
  const before = await kept.amount()
  await measured()
  const after = await kept.amount()
  const each = (key: 'rows' | 'bytes') => ((after[key] - before[key]) / RUNS).toFixed(1)
  const name = `${kind}: ${each('rows')} rows, ${each('bytes')} bytes`
  comparisons.push(await compare(name, 'ms', { measured, reference }))
  await kept.stop()
}
console.log(table(comparisons, ['stored', 'plain']))
rmSync(folder, { recursive: true, force: true })
