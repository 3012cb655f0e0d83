/**
 * Lists and counts in PostgreSQL among 1,000,000 stored runs, beside the same among 1,000. Run with `node bench/postgres-many.ts [runs]`.
 */

import process from 'node:process'
import type { LocalState } from '../src/core/local-state.ts'
import type { RunQuery } from '../src/runs/stored/host.ts'
import { createLocalHost } from '../src/runs/stored/local-host.ts'
import { encodeCursor, MAX_LOOKS } from '../src/runs/stored/page.ts'
import { partitionOf, RESULTS, RUNS, toDocument } from '../src/runs/stored/record.ts'
import { postgresState } from '../src/runtimes/postgres.ts'
import { type PostgresDriver, postgresDriver } from '../src/stores/postgres/driver.ts'
import { startPostgres } from '../test/runtimes/postgres/server.ts'
import { type Comparison, compare, microseconds, table } from './measure.ts'
import { echo } from './servers/agents.ts'
import { SETTINGS } from './settings.ts'

const MANY = Number(process.argv[2] ?? 1_000_000)
const FEW = 1000
const COUNT = 20
const SINCE = 1_700_000_000_000
/** Half of the runs are this owner's. Each other owner has 50. */
const OWNER = 'many'
const FEW_OWNER = 'few 3'
const FILL_MS = 20 * 60_000

const step = (text: string) => console.error(`… ${text}`)
const text = (value: string) => `'${value.replaceAll("'", "''")}'`

/** A run as the host writes it, with words in the places of what differs. */
function template(): string {
  const words = {
    id: '<id>',
    name: '<name>',
    sessionId: '<session>',
    createdAt: '<time>',
    updatedAt: '<time>',
  }
  const record = { ...words, kind: '<kind>' as 'agent', status: '<status>' as 'failed' }
  const run = { record, owner: '<owner>', at: -1, instance: crypto.randomUUID(), keyId: null }
  return JSON.stringify(toDocument(run).value).replace('"at":-1', '"at":<at>')
}

/**
 * Fills a schema with so many ended runs, a second apart. Each fifth one failed, is a team, or has a name; sessions have 50. Each has
 * its result.
 */
async function fill(driver: PostgresDriver, schema: string, runs: number): Promise<void> {
  const columns = '(collection, id, partition, at, expires, tags, value, version)'
  const value = ['id', 'name', 'session', 'time', 'kind', 'status', 'owner', 'at'].reduce(
    (made, word) => `replace(${made}, '<${word}>', ${word}_of)`,
    text(template()),
  )
  const filled = `SELECT i, gen_random_uuid()::text AS id_of, ${SINCE} + i * 1000.0::float8 AS at_value,
    CASE WHEN i % 2 = 0 THEN ${text(OWNER)} ELSE 'few ' || (i / 100) END AS owner_of,
    CASE WHEN i / 2 % 5 = 0 THEN 'team' ELSE 'agent' END AS kind_of,
    CASE WHEN i / 10 % 5 = 0 THEN 'failed' ELSE 'completed' END AS status_of,
    'agent-' || (i / 50 % 5) AS name_of, 'session-' || (i / 100) AS session_of
    FROM generate_series(0, ${runs - 1}) AS i`
  const whole = `SELECT *, at_value::text AS at_of,
    to_char(to_timestamp(at_value / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS time_of FROM (${filled}) f`
  const tags = `jsonb_build_object('kind', kind_of, 'name', name_of, 'status', status_of, 'sessionId', session_of)`
  const options = { timeoutMs: FILL_MS }
  await driver.query(
    `INSERT INTO ${schema}.documents ${columns} SELECT ${text(RUNS)}, id_of, 'owner:' || owner_of, at_value, 9e15, ${tags},
      ${value}, nextval('${schema}.versions') FROM (${whole}) w`,
    [],
    options,
  )
  const result = JSON.stringify({ text: 'an answer of some words', finishReason: 'stop' })
  await driver.query(
    `INSERT INTO ${schema}.documents ${columns} SELECT ${text(RESULTS)}, id, '', at, expires, '{}', ${text(result)},
      nextval('${schema}.versions') FROM ${schema}.documents WHERE collection = ${text(RUNS)}`,
    [],
    options,
  )
  await driver.query(`VACUUM ANALYZE ${schema}.documents`, [], options)
}

const LISTS: readonly (readonly [what: string, owner: string, query: Omit<RunQuery, 'limit'>])[] = [
  ['an owner with half of them', OWNER, {}],
  ['an owner with 50', FEW_OWNER, {}],
  ['`status`, a fifth', OWNER, { status: 'failed' }],
  ['`status`, none', OWNER, { status: 'running' }],
  ['`kind`, a fifth', OWNER, { kind: 'team' }],
  ['`name`, a fifth', OWNER, { name: 'agent-3' }],
  ['`sessionId`, 50', OWNER, { sessionId: 'session-7' }],
  ['`sessionId` and `status`, 10', OWNER, { sessionId: 'session-7', status: 'failed' }],
  ['`name` and `status`, 1 in 25', OWNER, { name: 'agent-3', status: 'failed' }],
  ['`kind`, `name` and `status`, none', OWNER, { kind: 'workflow', name: 'agent-3', status: 'failed' }],
]

type Act = (one: Filled) => Promise<unknown>

interface Filled {
  readonly state: LocalState
  readonly host: ReturnType<typeof createLocalHost>
  readonly id: string
  /** The cursor in the middle. */
  readonly middle: string
  readonly runs: number
}

const count =
  (owner: string, tags: Record<string, string>, since?: (runs: number) => number): Act =>
  async ({ state, runs }) =>
    state.store.read(tx =>
      tx.countMatching(RUNS, {
        partition: partitionOf(owner),
        tags,
        looks: MAX_LOOKS,
        ...(since && { since: since(runs) }),
      }),
    )

const never = new AbortController().signal
const target = { kind: 'agent', name: 'echo', servable: echo } as const

const ACTS: readonly (readonly [what: string, act: Act])[] = [
  ...LISTS.map(
    ([what, owner, query]) =>
      [`list 50: ${what}`, ({ host }: Filled) => host.list(owner, { ...query, limit: 50 })] as const,
  ),
  ['list 50: from the middle on', ({ host, middle }) => host.list(OWNER, { limit: 50, cursor: middle })],
  ['count: an owner with 50', count(FEW_OWNER, {})],
  ['count: `sessionId`', count(OWNER, { sessionId: 'session-7' })],
  ['count: `status`, up to 1,000', count(OWNER, { status: 'failed' })],
  ['count: since a time, 50', count(OWNER, {}, runs => SINCE + (runs - 100) * 1000)],
  ['get', ({ host, id }) => host.get(id, OWNER)],
  [
    'start and end a run',
    async ({ host }) => {
      const { id } = await host.start({ target, input: 'x', options: {}, owner: 'new', isBackground: true })
      return host.wait(id, 'new', never)
    },
  ],
]

async function main(): Promise<void> {
  const server = await startPostgres()
  const driver = postgresDriver(server.url, { max: 1, prepare: false, ssl: undefined })
  const filled = async (schema: string, runs: number): Promise<Filled> => {
    step(`filling ${runs}`)
    const state = postgresState({ url: server.url, schema })
    const host = createLocalHost({ ...state, settings: SETTINGS })
    await host.list(OWNER, { limit: 1 })
    await fill(driver, schema, runs)
    const { id } = (await host.list(OWNER, { limit: 1 })).runs[0]!
    const at = SINCE + Math.floor(runs / 2) * 1000
    return { state, host, id, runs, middle: encodeCursor({ at, id: '0' }) }
  }
  try {
    const [few, many] = [await filled('few', FEW), await filled('many', MANY)]
    const comparisons: Comparison[] = []
    for (const [what, act] of ACTS) {
      step(what)
      const timed = (one: Filled) => () => microseconds(COUNT, () => act(one))
      comparisons.push(await compare(what, 'µs', { measured: timed(many), reference: timed(few) }))
    }
    const names = [MANY, FEW].map(runs => `${runs.toLocaleString('en')} runs`)
    console.log(table(comparisons, [names[0]!, names[1]!]))
    few.state.store.close()
    many.state.store.close()
  } finally {
    await driver.end()
    await server.stop()
  }
}

await main()
process.exit()
