/**
 * Two versions of servable side by side over one PostgreSQL database, of which the newer one changes the schema.
 *
 * @module-tag long
 */
import { execFile } from 'node:child_process'
import process from 'node:process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, type TestContext } from 'vitest'
import { createLocalHost } from '../../src/runs/stored/local-host.ts'
import { storeCommand } from '../../src/stores/postgres/command.ts'
import { type PostgresDriver, postgresDriver } from '../../src/stores/postgres/driver.ts'
import { MIGRATIONS, type Migration, quoted } from '../../src/stores/postgres/schema.ts'
import { postgresStore } from '../../src/stores/postgres/store.ts'
import { begin, ending, eventsIn, read, rest, unique } from '../contracts/run-host/kit.ts'
import { SETTINGS } from '../contracts/run-host/local.ts'
import { accept, cancel, ended, follow, get } from '../contracts/runs/client.ts'
import { eventually } from '../eventually.ts'
import { needing } from '../needing.ts'
import { following } from './neighbours.ts'
import { cluster, endless } from './postgres/cluster.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'
import { root } from './process.ts'

const { describe, it } = needing('postgresql')

let database: PostgresServer
beforeAll(async () => {
  database = await startPostgres()
})
afterAll(() => database?.stop())

const connect = () => postgresDriver(database.url, { max: 4, prepare: true, ssl: undefined })

/** What a newer version adds: columns, an index, a table, and a function that takes the place of an older one. */
const added: Migration['statements'] = s => [
  `ALTER TABLE ${s}.documents ADD COLUMN written timestamptz NOT NULL DEFAULT now()`,
  `ALTER TABLE ${s}.entries ADD COLUMN bytes int`,
  `CREATE INDEX documents_by_writing ON ${s}.documents (collection, written)`,
  `CREATE TABLE ${s}.newer (id uuid PRIMARY KEY)`,
  `CREATE FUNCTION ${s}.commit_3(given text) RETURNS bigint LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO ${s}.newer VALUES ((given::jsonb->>'id')::uuid) ON CONFLICT DO NOTHING;
      RETURN ${s}.commit_2(given);
    END $$`,
]
const OWN = MIGRATIONS.length
const NEWER: readonly Migration[] = [...MIGRATIONS, { oldest: OWN, statements: added }]
/** Nothing older works with it. */
const NEWEST: readonly Migration[] = [...NEWER, { oldest: NEWER.length + 1, statements: () => [] }]

/** A process of the newer version. It uses what its version adds. */
function openNewer({ onTestFinished }: TestContext, schema: string, migrations = NEWER) {
  const driver = connect()
  const query: PostgresDriver['query'] = (text, values, options) =>
    driver.query(text.replace('.commit_2(', '.commit_3('), values, options)
  const store = postgresStore({ driver: { ...driver, query }, schema, migrations })
  onTestFinished(() => store.close())
  return createLocalHost({ store, settings: SETTINGS, retention: {} })
}

const command = async (act: string, schema: string) => {
  const args = ['src/command/cli.ts', 'store', act, '--url', database.url, '--schema', schema]
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root })
    return { code: 0, text: stdout }
  } catch (error) {
    const { code, stdout } = error as { code: number; stdout: string }
    return { code, text: stdout }
  }
}

describe.concurrent('a newer version', () => {
  it('changes the schema while older processes work, and shares its runs with them', async context => {
    const enter = cluster(context, { url: database.url })
    const [one, two] = await Promise.all([enter(), enter()])
    const { id } = await endless(one.server, {})
    const elsewhere = await following(two.server, id, {})
    let isOver = false
    const working = (async () => {
      const ids: string[] = []
      while (!isOver || ids.length < 20)
        ids.push((await accept(one.server, 'agents/counts', { input: '40' })).id)
      return ids
    })()
    const newer = openNewer(context, enter.schema)
    const began = await begin(newer, [{ say: 'a' }, { gate: unique('never') }])
    isOver = true
    // Older processes begin, end, follow and list as before; so does one that starts only now.
    const three = await enter()
    const after = await accept(three.server, 'agents/counts', { input: '40' })
    for (const run of [...(await working), after.id]) {
      for (const { server } of [one, two, three])
        expect(await ended(server, run)).toMatchObject({ status: 'completed' })
      expect(await ending(newer, run)).toMatchObject({ status: 'completed' })
      expect(eventsIn(await read(newer, run))).toHaveLength((await follow(two.server, run)).length)
    }
    // Each cancels what the other has at work.
    await newer.cancel(id, null)
    expect((await elsewhere.all).at(-1)?.event).toMatchObject({ finishReason: 'cancelled' })
    const followed = rest(await newer.follow(began.id, null, 0))
    expect(await cancel(two.server, began.id)).toMatchObject({ status: 200 })
    expect(eventsIn(await followed).at(-1)).toMatchObject({ finishReason: 'cancelled' })
    expect(await get(one.server, began.id)).toMatchObject({ status: 'cancelled' })
    const driver = connect()
    const [row] = await driver.query(`SELECT count(*)::int AS n FROM ${quoted(enter.schema)}.newer`, [])
    await driver.end()
    expect(row?.n).toBeGreaterThan(0)
  })

  it('takes over the runs of older processes that are killed', async context => {
    const enter = cluster(context, { url: database.url })
    const one = await enter()
    const { id } = await endless(one.server, {})
    const newer = openNewer(context, enter.schema)
    const followed = rest(await newer.follow(id, null, 0))
    await one.kill()
    expect(eventsIn(await followed).at(-1)).toMatchObject({ type: 'error', code: 'interrupted' })
  })

  it('is told by `servable store check`, as is a version that is too old', async context => {
    const enter = cluster(context, { url: database.url })
    const { schema } = enter
    const newer = async (act: string, migrations: readonly Migration[]) => {
      const lines: string[] = []
      const code = await storeCommand(
        act,
        { url: database.url, schema },
        line => void lines.push(line),
        migrations,
      )
      return { code, text: lines.join('\n') }
    }
    expect((await command('migrate', schema)).text).toContain(`version 0 → ${OWN}`)
    expect(await newer('check', NEWER)).toMatchObject({
      code: 1,
      text: expect.stringContaining(
        `wrong  schema ${schema}, version ${OWN}: run \`servable store migrate\``,
      ),
    })
    expect((await newer('migrate', NEWER)).text).toContain(`version ${OWN} → ${OWN + 1}`)
    expect(await newer('check', NEWER)).toMatchObject({ code: 0 })
    expect(await command('check', schema)).toMatchObject({
      code: 0,
      text: expect.stringContaining(`version ${OWN + 1}`),
    })
    expect(await command('migrate', schema)).toMatchObject({
      code: 0,
      text: expect.stringContaining(`version ${OWN + 1}, nothing to do`),
    })
    const old = await enter({ MIGRATE: 'never' })
    expect((await newer('migrate', NEWEST)).text).toContain(`version ${OWN + 1} → ${OWN + 2}`)
    expect(await command('check', schema)).toMatchObject({
      code: 1,
      text: expect.stringContaining('wrong  this version of servable is new enough: use a newer one'),
    })
    const refused = await enter().catch((error: Error) => error.message)
    expect(refused).toContain('a newer version of servable has written the schema')
    expect(refused).toContain('invalid_options')
    await old.stop()
  })

  it('refuses a schema that is too old if it may not change it', async context => {
    const enter = cluster(context, { url: database.url })
    const refused = await enter({ MIGRATE: 'never' }).catch((error: Error) => error.message)
    expect(refused).toContain(`has version 0, and this version of servable needs ${OWN}`)
    const { id } = await endless((await enter()).server, {})
    const store = postgresStore({
      driver: connect(),
      schema: enter.schema,
      migrates: false,
      migrations: NEWER,
    })
    const newer = createLocalHost({ store, settings: SETTINGS, retention: {} })
    await expect(newer.get(id, null)).rejects.toMatchObject({
      code: 'invalid_options',
      message: expect.stringContaining(`has version ${OWN}, and this version of servable needs ${OWN + 1}`),
    })
    expect((await command('check', enter.schema)).code).toBe(0)
    // As soon as it is changed, it is used.
    await storeCommand('migrate', { url: database.url, schema: enter.schema }, () => {}, NEWER)
    await eventually(async () => expect(await newer.get(id, null)).toMatchObject({ status: 'running' }))
    await store.close()
  })
})
