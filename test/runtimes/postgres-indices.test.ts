/** The indices of the PostgreSQL store: what uses them, and how they replace those of older versions. */

import { afterAll, beforeAll, expect, type TestContext } from 'vitest'
import { JOURNAL, REQUESTS } from '../../src/runs/stored/journal.ts'
import { RESULTS, RUNNING, RUNS } from '../../src/runs/stored/record.ts'
import { storeCommand } from '../../src/stores/postgres/command.ts'
import { type PostgresDriver, postgresDriver } from '../../src/stores/postgres/driver.ts'
import { UNAGED, UNLISTED } from '../../src/stores/postgres/indices.ts'
import { MIGRATIONS, migrate, quoted } from '../../src/stores/postgres/schema.ts'
import { postgresStore } from '../../src/stores/postgres/store.ts'
import { INDEXED_TAGS } from '../../src/stores/sql/migrations.ts'
import type { Reader, Store } from '../../src/stores/store.ts'
import { doc, ids } from '../contracts/store/document.ts'
import { eventually } from '../eventually.ts'
import { needing } from '../needing.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

const { describe, it } = needing('postgresql')

let server: PostgresServer
let driver: PostgresDriver
beforeAll(async () => {
  server = await startPostgres()
  driver = connect()
})
afterAll(async () => {
  await driver?.end()
  await server?.stop()
})

const connect = () => postgresDriver(server.url, { max: 4, prepare: true, ssl: undefined })

/** Processes before the indices were replaced. */
const BEFORE = MIGRATIONS.slice(0, 2)

let schemas = 0
const newSchema = () => `s${++schemas}`

function open({ onTestFinished }: TestContext, schema: string, migrations = MIGRATIONS): Store {
  const store = postgresStore({ driver: connect(), schema, migrations })
  onTestFinished(() => store.close())
  return store
}

/** Documents of runs with all tags, and as many without in each collection that an index leaves out. Some have the same time. */
async function fill(schema: string): Promise<void> {
  const tags = INDEXED_TAGS.map(tag => `'${tag}', '${tag} ' || i % 7`).join(', ')
  const collections = [RUNS, 'others', ...UNAGED].map(name => `'${name}'`).join(', ')
  await driver.query(
    `INSERT INTO ${quoted(schema)}.documents (collection, id, partition, at, expires, tags, value, version)
      SELECT c, 'id ' || i, 'p' || i % 3, i / 4, CASE WHEN i % 2 = 0 THEN i END, CASE WHEN c = '${RUNS}' THEN jsonb_build_object(${tags}) ELSE '{}' END, to_json(i)::text, 1
        FROM generate_series(1, 3000) i, unnest(ARRAY[${collections}]) c`,
    [],
  )
}

type Read = (tx: Reader) => unknown

/** Reads, each with what its plan must have. */
const READS: readonly (readonly [what: string, read: Read, plan: RegExp])[] = [
  ['a list', tx => tx.list(RUNS, { partition: 'p1', limit: 10 }), /Scan Backward using documents_in_lists/],
  [
    'a list after a document',
    tx => tx.list(RUNS, { partition: 'p1', limit: 10, after: { at: 300, id: 'id 1201' } }),
    /Scan Backward using documents_in_lists .*\n.*ROW\(at, id\) < /,
  ],
  ['the oldest of a partition', tx => tx.oldest(RUNS, 10, 'p1'), /Scan using documents_in_lists/],
  ['the oldest of all', tx => tx.oldest(RUNS, 10), /Scan using documents_in_time/],
  ['what has expired', tx => tx.expired(RUNS, 100, 10), /documents_by_expiry/],
  ['what begins so', tx => tx.withPrefix(RUNS, 'id 12345', 10), /documents_pkey/],
  [
    'a search of no tag',
    tx => tx.search(RUNS, { partition: 'p1', tags: { other: 'x' }, limit: 10, looks: 100 }),
    /Scan Backward using documents_in_lists/,
  ],
  ...INDEXED_TAGS.map(
    tag =>
      [
        `a search of \`${tag}\``,
        (tx: Reader) =>
          tx.search(RUNS, { partition: 'p1', tags: { [tag]: `${tag} 1` }, limit: 10, looks: 100 }),
        new RegExp(`Scan (Backward using|on) documents_tagged_${tag.toLowerCase()}`),
      ] as const,
  ),
  [
    'a count of what matches',
    tx => tx.countMatching(RUNS, { partition: 'p1', tags: { kind: 'kind 1' }, since: 10, looks: 100 }),
    /documents_tagged_kind/,
  ],
]

/** The answers do not depend on the indices. */
async function answers(store: Store): Promise<unknown> {
  const reads = READS.map(([, read]) => store.read(read))
  const collections = [RUNS, ...UNAGED]
  const more = collections.map(name =>
    store.read(tx => [
      ids(tx.list(name, { partition: 'p1', limit: 20 })),
      ids(tx.oldest(name, 20)),
      ids(tx.oldest(name, 20, 'p2')),
      [tx.count(name), tx.count(name, 'p1')],
    ]),
  )
  return Promise.all([...reads, ...more])
}

async function indicesOf(schema: string): Promise<string[]> {
  const rows = await driver.query(
    `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      WHERE indrelid IN ('${quoted(schema)}.documents'::regclass, '${quoted(schema)}.commits'::regclass) AND indisvalid ORDER BY 1`,
    [],
  )
  return rows.map(({ name }) => String(name))
}

const NOW = [
  'commits_pkey',
  'documents_by_expiry',
  'documents_in_lists',
  'documents_in_time',
  'documents_pkey',
  ...INDEXED_TAGS.map(tag => `documents_tagged_${tag.toLowerCase()}`),
].sort()

describe('the plans', () => {
  it.for([false, true])('read no more than they must, with statistics: %s', async (isAnalyzed, context) => {
    const schema = newSchema()
    await open(context, schema).read(tx => tx.now)
    await fill(schema)
    if (isAnalyzed) await driver.query(`ANALYZE ${quoted(schema)}.documents`, [])
    const asked: { text: string; values: readonly (string | number)[] }[] = []
    const query: PostgresDriver['query'] = (text, values, options) => {
      asked.push({ text, values: values as (string | number)[] })
      return driver.query(text, values, options)
    }
    const store = postgresStore({ driver: { ...driver, query, end: async () => {} }, schema })
    context.onTestFinished(() => store.close())
    for (const [what, read, expected] of READS) {
      asked.length = 0
      await store.read(read)
      const look = asked.find(({ text }) => text.includes('.look_1('))!
      const rows = await driver.query(`EXPLAIN ${look.text}`, look.values as never)
      const plan = rows.map(row => String(row['QUERY PLAN'])).join('\n')
      expect(plan, what).toMatch(expected)
      expect(plan, what).not.toContain('Seq Scan on documents')
    }
  })

  it('count a partition by its index, in a function that is planned once', async context => {
    const schema = newSchema()
    const store = open(context, schema)
    await store.read(tx => tx.now)
    await fill(schema)
    const usesOf = async (index: string) => {
      const [row] = await driver.query(
        `SELECT idx_tup_read::int AS n FROM pg_stat_user_indexes WHERE schemaname = $1::text AND indexrelname = $2::text`,
        [schema, index],
      )
      return Number(row?.n)
    }
    const before = await usesOf('documents_pkey')
    await store.read(tx => tx.count(RUNS, 'p1'))
    await eventually(async () => expect(await usesOf('documents_in_lists')).toBe(1000))
    expect(await usesOf('documents_pkey')).toBe(before)
  })
})

it('leaves out collections of runs that nobody asks so', () => {
  expect(UNLISTED).toEqual([REQUESTS, RESULTS])
  expect(UNAGED).toEqual([...UNLISTED, JOURNAL, RUNNING])
})

describe('the indices of an older version', () => {
  it('are replaced while its processes work, which find the same as before', async context => {
    const schema = newSchema()
    const older = open(context, schema, BEFORE)
    await older.read(tx => tx.now)
    await fill(schema)
    const expected = await answers(older)
    let isOver = false
    const working = [1, 2, 3].map(async worker => {
      let rounds = 0
      while (!isOver || rounds < 20) {
        const id = `${worker} ${++rounds}`
        await older.write(tx => {
          tx.put(
            'work',
            doc(String(worker), { value: (tx.get<number>('work', String(worker))?.value ?? 0) + 1 }),
          )
          tx.put('work', doc(id))
        }, 30_000)
      }
      return rounds
    })
    const newer = open(context, schema)
    await newer.read(tx => tx.now)
    isOver = true
    const rounds = await Promise.all(working)
    expect(await indicesOf(schema)).toEqual(NOW)
    expect(await answers(older)).toEqual(expected)
    expect(await answers(newer)).toEqual(expected)
    const counted = await newer.read(tx => [1, 2, 3].map(worker => tx.get('work', String(worker))?.value))
    expect(counted).toEqual(rounds)
    expect(await open(context, schema, BEFORE).read(tx => tx.count(RUNS, 'p1'))).toBe(1000)
  })

  it('are replaced by `servable store migrate`, also after it was cut off', async () => {
    const schema = newSchema()
    await migrate(driver, schema, BEFORE)
    await fill(schema)
    const s = quoted(schema)
    await driver.query(`CREATE INDEX documents_in_lists ON ${s}.documents (collection)`, [])
    const isInvalid = `UPDATE pg_index SET indisvalid = false WHERE indexrelid = '${s}.documents_in_lists'::regclass`
    await driver.query(isInvalid, [])
    const lines: string[] = []
    expect(await storeCommand('migrate', { url: server.url, schema }, line => void lines.push(line))).toBe(0)
    expect(lines).toEqual([`${schema}: version 2 → ${MIGRATIONS.length}`])
    expect(await indicesOf(schema)).toEqual(NOW)
    const [row] = await driver.query(
      `SELECT pg_get_indexdef('${s}.documents_in_lists'::regclass) AS text`,
      [],
    )
    expect(row?.text).toContain('(collection, partition, at, id)')
  })
})
