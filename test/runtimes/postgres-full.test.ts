/**
 * Processes over a PostgreSQL database that cannot be written for a while: it is read-only, or its disk is full.
 *
 * @module-tag long
 */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect } from 'vitest'
import { type PostgresDriver, postgresDriver } from '../../src/stores/postgres/driver.ts'
import {
  accept,
  as,
  ended,
  type follow,
  get,
  isNoted,
  list,
  noted,
  openGate,
  own,
  post,
  type Server,
} from '../contracts/runs/client.ts'
import { eventually } from '../eventually.ts'
import { needing } from '../needing.ts'
import { following } from './neighbours.ts'
import { cluster } from './postgres/cluster.ts'
import { startPostgres } from './postgres/server.ts'
import { mountTinyDisk } from './postgres/tiny-disk.ts'

const { describe, it } = needing('postgresql')

const connect = (url: string) => postgresDriver(url, { max: 1, prepare: false, ssl: undefined })

/** A database that can be kept from being written. */
interface Stoppable {
  readonly url: string
  stop(): Promise<unknown>
  goOn(): Promise<unknown>
  remove(): Promise<unknown>
}

async function readOnly(): Promise<Stoppable> {
  const server = await startPostgres()
  const admin = connect(server.url)
  const set = async (value: string) => {
    await admin.query('SET default_transaction_read_only = off', [])
    await admin.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`, [])
    await admin.query('SELECT pg_reload_conf()', [])
  }
  return {
    url: server.url,
    stop: () => set('on'),
    goOn: () => set('off'),
    remove: () => admin.end().then(server.stop),
  }
}

/** Its disk is full. Where no disk can be mounted, every insertion gets the error that it would get. */
async function full(): Promise<Stoppable> {
  const server = await startPostgres()
  const admin = connect(server.url)
  const disk = await mountTinyDisk(64)
  if (disk === undefined) {
    await admin.query(
      `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$`,
      [],
    )
    const all = (act: (table: string) => string) => `DO $$ DECLARE t text; BEGIN
      FOR t IN SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
        WHERE schemaname LIKE 'cluster%' AND tablename IN ('documents', 'entries', 'commits') LOOP
        EXECUTE ${act('t')}; END LOOP; END $$`
    const made = `'CREATE TRIGGER no_room BEFORE INSERT ON ' || t || ' EXECUTE FUNCTION public.no_room()'`
    return {
      url: server.url,
      stop: () =>
        admin.query(
          all(() => made),
          [],
        ),
      goOn: () =>
        admin.query(
          all(() => `'DROP TRIGGER no_room ON ' || t`),
          [],
        ),
      remove: () => admin.end().then(server.stop),
    }
  }
  await admin.query(`CREATE TABLESPACE tiny LOCATION '${disk.folder}'`, [])
  await admin.query('CREATE DATABASE tiny TABLESPACE tiny', [])
  return {
    url: server.url.replace(/[^/]+$/, 'tiny'),
    stop: disk.fill,
    goOn: disk.free,
    remove: () =>
      admin
        .end()
        .then(server.stop)
        .then(() => disk.remove()),
  }
}

const isReady = async (server: Server) => (await fetch(`${server().url}/api/health`)).ok

/** Checks that there is every event, once, and gives the last one. */
function lastOf(messages: Awaited<ReturnType<typeof follow>>) {
  expect(messages.map(({ id }) => Number(id))).toEqual(messages.map((_, index) => index + 1))
  return messages.at(-1)?.event
}

describe.concurrent.each([
  ['is read-only', readOnly],
  ['is full', full],
] as const)('a database that %s', (_, make) => {
  let database: Stoppable
  beforeAll(async () => {
    database = await make()
  })
  afterAll(() => database?.remove())

  it('is told, and nothing is lost or doubled when it can be written again', async context => {
    const enter = cluster(context, { url: database.url })
    const [one, two] = await Promise.all([enter(), enter()])
    const owner = as(own('owner'))
    const begin = async (agent: string) => {
      const gate = own('gate')
      const { id } = await accept(one.server, `agents/${agent}`, { input: gate }, owner)
      const all = await Promise.all([one, two].map(({ server }) => following(server, id, owner)))
      return { id, gate, all }
    }
    const silent = await begin('gated')
    const [talking, waiting] = [await begin('pours'), await begin('pours')]
    // It is kept, and needs room of its own: what was deleted leaves a little room.
    const input = randomBytes(100_000).toString('hex')
    const headers = { ...owner, prefer: 'respond-async', 'idempotency-key': own('key') }
    const ask = (server: Server) => post(server, '/api/agents/resumes/run', { input }, headers)

    await database.stop()
    try {
      await openGate(one.server, talking.gate)
      await eventually(async () => expect(await isReady(one.server)).toBe(false))
      for (const refused of await Promise.all([ask(one.server), ask(two.server)])) {
        expect(refused.status, refused.text).toBe(503)
        expect(JSON.parse(refused.text)).toMatchObject({ code: 'state_unavailable' })
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      }
      // What is there is read.
      for (const { server } of [one, two])
        expect(await get(server, silent.id, owner)).toMatchObject({ status: 'running' })
      // An agent waits with what it may not say yet, and is stopped in the end.
      await noted(one.server, `${talking.gate} poured 9`)
      await noted(one.server, `${talking.gate} stopped`)
      // Another one does not have to wait for so long.
      await openGate(one.server, waiting.gate)
      await noted(one.server, `${waiting.gate} poured 9`)
      expect(await isNoted(one.server, `${waiting.gate} poured 15`)).toBe(false)
    } finally {
      await database.goOn()
    }

    for (const { server } of [one, two])
      await eventually(async () => expect(await isReady(server)).toBe(true))
    for (const each of talking.all)
      expect(lastOf(await each.all)).toMatchObject({ type: 'error', code: 'state_unavailable' })
    expect(await ended(two.server, talking.id, owner)).toMatchObject({ status: 'failed' })
    for (const each of waiting.all) {
      const messages = await each.all
      expect(lastOf(messages)).toMatchObject({ type: 'finish', finishReason: 'stop' })
      const said = messages
        .slice(1, -1)
        .map(({ event }) => 'text' in event && Number.parseInt(`${event.text}`, 10))
      expect(said).toEqual(Array.from({ length: 40 }, (_, index) => index))
    }
    await openGate(one.server, silent.gate)
    for (const each of silent.all)
      expect(lastOf(await each.all)).toMatchObject({ type: 'finish', finishReason: 'stop' })
    // Of all that was asked with the key, one run has begun.
    const ids = new Set<string>()
    for (const { server } of [one, two, one]) {
      const answer = await ask(server)
      expect(answer.status, answer.text).toBe(202)
      ids.add(JSON.parse(answer.text).id)
    }
    expect(ids.size).toBe(1)
    expect((await list(two.server, '?limit=100', owner)).runs).toHaveLength(4)
  })
})

describe('connections that cannot write any more', () => {
  it('are left for new ones: the address may lead to another server by now', async context => {
    const server = await startPostgres()
    context.onTestFinished(server.stop)
    const [admin, driver]: PostgresDriver[] = [connect(server.url), connect(server.url)]
    const write = () => driver!.query('CREATE TABLE IF NOT EXISTS written (at int)', [])
    await write()
    // Connections that are there become read-only, and new ones are not.
    await admin!.query('ALTER ROLE test SET default_transaction_read_only = off', [])
    await admin!.query('ALTER SYSTEM SET default_transaction_read_only = on', [])
    await admin!.query('SELECT pg_reload_conf()', [])
    await eventually(() => expect(write()).rejects.toMatchObject({ code: '25006' }))
    await eventually(async () => void (await write()))
    await Promise.all([admin!.end(), driver!.end()])
  })
})
