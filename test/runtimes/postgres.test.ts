/** The store over PostgreSQL, on a real server. */

import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, vi } from 'vitest'
import { deferred } from '../../src/base/wake.ts'
import { bearerAuth, createHandler, type RunResult } from '../../src/index.ts'
import { createLocalHost } from '../../src/runs/stored/local-host.ts'
import { postgresState } from '../../src/runtimes/postgres.ts'
import { type PostgresDriver, postgresDriver } from '../../src/stores/postgres/driver.ts'
import type { LeaseTimes } from '../../src/stores/postgres/leases.ts'
import type { Listen } from '../../src/stores/postgres/notifications.ts'
import { postgresRemote } from '../../src/stores/postgres/remote.ts'
import { quoted } from '../../src/stores/postgres/schema.ts'
import { postgresStore } from '../../src/stores/postgres/store.ts'
import { restored, stored } from '../../src/stores/postgres/text.ts'
import type { Store, Transaction } from '../../src/stores/store.ts'
import { begin, eventsIn, read, rest, unique, waitFor } from '../contracts/run-host/kit.ts'
import { SETTINGS } from '../contracts/run-host/local.ts'
import { wasStopped } from '../contracts/run-host/scripted.ts'
import { doc } from '../contracts/store/document.ts'
import { here } from '../contracts/store/steps.ts'
import { storeContract } from '../contracts/store.ts'
import { eventually } from '../eventually.ts'
import { needing } from '../needing.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

const { describe, it } = needing('postgresql')

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server?.stop())

const connect = () => postgresDriver(server.url, { max: 4, prepare: false, ssl: undefined })
const listen: Listen = told => postgresDriver(server.url, { max: 1, prepare: false, ssl: undefined, ...told })

const opened: Store[] = []
afterEach(() => {
  for (const store of opened.splice(0)) store.close()
})

let schemas = 0
const newSchema = () => `s${++schemas}`

/** Opens a schema, as one more process does. */
function open(schema: string, times?: LeaseTimes, isHeard = false): Store {
  const store = postgresStore({ driver: connect(), schema, times, listen: isHeard ? listen : undefined })
  opened.push(store)
  return store
}

/** Adds one to what a document counts. */
function countUp(tx: Transaction): number {
  const count = (tx.get<number>('c', 'count')?.value ?? 0) + 1
  tx.put('c', doc('count', { value: count }))
  tx.append('log', String(count))
  return count
}

describe('the store', () => {
  storeContract(() => here(postgresStore({ driver: connect(), schema: newSchema() })))
})

describe('several processes', () => {
  it('make the schema at once, and write one after the other', async () => {
    const schema = newSchema()
    const stores = Array.from({ length: 10 }, () => open(schema))
    const counts = await Promise.all(
      stores.flatMap(store => Array.from({ length: 5 }, () => store.write(countUp, 60_000))),
    )
    const all = counts.toSorted((one, other) => one - other)
    expect(all).toEqual(Array.from({ length: 50 }, (_, at) => at + 1))
    const log = await stores[0]?.read(tx => tx.read('log', 0, 100))
    expect(log?.map(({ seq, data }) => [seq, data])).toEqual(all.map(count => [count, String(count)]))
  })

  it('refuse a schema that a newer version has written', async () => {
    const schema = newSchema()
    await open(schema).write(countUp)
    await connect().query(`INSERT INTO ${quoted(schema)}.schema_versions VALUES (99, 99)`, [])
    await expect(open(schema).write(countUp)).rejects.toMatchObject({
      code: 'invalid_options',
      message: expect.stringContaining('newer version'),
    })
  })

  it('have schemas of their own in one database', async () => {
    const [one, other] = [open(newSchema()), open(newSchema())]
    await one.write(countUp)
    expect(await other.read(tx => tx.count('c'))).toBe(0)
  })
})

describe('runs of two processes', () => {
  const hostOn = (schema: string) =>
    createLocalHost({
      store: open(schema, { renewMs: 50, leaseMs: 1000 }),
      settings: SETTINGS,
      retention: {},
    })

  it('are followed, and cancelled, from the other one', async () => {
    const schema = newSchema()
    const [here, there] = [hostOn(schema), hostOn(schema)]
    const { id } = await begin(here, [{ say: 'a' }, { gate: unique('never') }])
    const following = rest(await there.follow(id, null, 0))
    await there.cancel(id, null)
    expect(eventsIn(await following).at(-1)).toMatchObject({ finishReason: 'cancelled' })
    await here.lookAfter?.()
    await waitFor(() => wasStopped(id))
    expect(eventsIn(await read(here, id)).filter(({ type }) => type === 'finish')).toHaveLength(1)
  })

  it('end as interrupted where one of the two is gone', async () => {
    const schema = newSchema()
    const [here, there] = [hostOn(schema), hostOn(schema)]
    const { id } = await begin(here, [{ say: 'a' }, { gate: unique('never') }])
    const following = rest(await there.follow(id, null, 0))
    opened[0]?.close()
    expect(eventsIn(await following).at(-1)).toMatchObject({ type: 'error', code: 'interrupted' })
  })

  it.each([-2, 2])('are kept as long though the clock of their process steps by %i days', async days => {
    const store = open(newSchema())
    const far = await store.write(tx => tx.now)
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + days * 24 * 60 * 60 * 1000)
    onTestFinished(() => void vi.restoreAllMocks())
    // What asks nothing goes on with the clock that it knows.
    const now = await store.write(tx => tx.now)
    expect(Math.abs(now - far)).toBeLessThan(60 * 60 * 1000)
    const host = createLocalHost({ store, settings: SETTINGS, retention: {} })
    const { id } = await begin(host, [{ say: 'a' }])
    await waitFor(async () => (await host.get(id, null)).status === 'completed')
  })

  it('are in one list over the routes, whichever process has them', async () => {
    const url = server.url
    const schema = newSchema()
    const handlers = [1, 2].map(() => {
      const state = postgresState({ url, schema, max: 2 })
      opened.push(state.store)
      return createHandler({
        agents: { echo: { run: async input => ({ text: String(input) }) as RunResult } },
        middleware: [bearerAuth({ tokens: { t: 'ada' } })],
        registry: false,
        state,
      })
    })
    const headers = { authorization: 'Bearer t', 'content-type': 'application/json' }
    const ask = async (at: number, path: string, body?: object) => {
      const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }
      const answer = await handlers[at]?.(new Request(`http://127.0.0.1/api/${path}`, init))
      return answer?.json()
    }
    const { runId: id } = await ask(0, 'agents/echo/run', { input: 'Hello', background: true })
    await eventually(async () =>
      expect(await ask(1, `runs/${id}`)).toMatchObject({ result: { text: 'Hello' } }),
    )
    expect((await ask(1, 'runs')).runs).toMatchObject([{ id, status: 'completed' }])
  })
})

describe('postgresState', () => {
  it.each([
    [{}, '`url`'],
    [{ url: 'mysql://x' }, '`url`'],
    [{ url: 'postgres://x', schema: 'A b' }, '`schema`'],
    [{ url: 'postgres://x', max: 0 }, '`max`'],
    [{ url: 'postgres://x', prepare: 'no' }, '`prepare`'],
    [{ url: 'postgres://x', maxRuns: Number.NaN }, '`maxRuns`'],
    [{ url: 'postgres://x', pool: 3 }, '`pool`'],
  ])('names what is wrong: %j', (options, name) => {
    const make = () => postgresState(options as never)
    expect(make).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining(name) }),
    )
  })
})

describe('a database that cannot be reached', () => {
  it('is told with what is wrong with it', async () => {
    const refused = { code: 'state_unavailable', cause: { code: 'ECONNREFUSED' } }
    const driver = postgresDriver('postgres://x@127.0.0.1:1/x', { max: 1, prepare: false, ssl: undefined })
    const store = postgresStore({ driver, schema: 's' })
    await expect(store.read(tx => tx.count('c'))).rejects.toMatchObject(refused)
    await expect(store.write(countUp)).rejects.toMatchObject(refused)
    await store.close()
  })
})

it('neither compiles nor plans a function at its calls, however large the tables are', async () => {
  const schema = newSchema()
  await open(schema).read(() => {})
  const driver = connect()
  const rows = await driver.query(
    "SELECT proname FROM pg_proc WHERE pronamespace::regnamespace::text = $1::text AND prosrc LIKE '%documents%' AND proconfig @> '{jit=off,plan_cache_mode=force_generic_plan}'",
    [schema],
  )
  await driver.end()
  expect(rows.map(({ proname }) => proname).sort()).toEqual([
    'commit_1',
    'commit_2',
    'commit_lean_1',
    'look_1',
  ])
})

describe('a log that is heard', () => {
  it('tells of what another process writes, whatever its name is', async () => {
    const schema = newSchema()
    const [here, there] = [open(schema, undefined, true), open(schema)]
    for (const log of ['l', '\0', '\u0001\u0002 😀']) {
      const wake = vi.fn()
      const hearing = await here.watch!(log, wake)
      await vi.waitFor(() => expect(hearing.isLive).toBe(true), { timeout: 30_000 })
      wake.mockClear()
      await there.write(tx => tx.append(log, 'x'))
      await vi.waitFor(() => expect(wake).toHaveBeenCalled(), { timeout: 30_000 })
      hearing.stop()
    }
  })
})

describe('a commit', () => {
  it('that is sent again writes nothing again', async () => {
    const schema = newSchema()
    await open(schema).read(tx => tx.count('c'))
    const far = postgresRemote(connect(), quoted(schema), async () => {})
    const log = { log: 'l', isDeleted: false, entries: ['one'], isSealed: false }
    const seen = {
      documents: [],
      logs: [{ log: 'l', version: undefined, head: { length: 0, isSealed: false } }],
    }
    const commit = { id: crypto.randomUUID(), by: undefined, seen, documents: [], logs: [log], calls: [] }
    const [one, other] = await Promise.all([far.commit(commit), far.commit(commit)])
    expect(one?.version).toBeDefined()
    expect(other).toEqual(one)
    expect(await far.commit(commit)).toEqual(one)
    const [answer] = await far.look([{ what: 'log', log: 'l', after: 0, limit: 9 }])
    expect(answer).toMatchObject({ length: 1, entries: [{ seq: 1, data: 'one' }] })
  })

  it('that is sent again is not taken for another one, though it has changed what it saw', async () => {
    const schema = newSchema()
    const store = open(schema)
    await store.write(tx => tx.put('c', { ...doc('a'), value: 1 }))
    const far = postgresRemote(connect(), quoted(schema), async () => {})
    const [found] = await far.look([{ what: 'get', collection: 'c', id: 'a' }])
    const { version } = found as { version: string }
    const of = (id: string, value: number) => ({
      ...{ collection: 'c', id, document: { ...doc(id), value }, eviction: undefined },
    })
    const seen = { documents: [{ collection: 'c', id: 'a', version }], logs: [] }
    const more = { by: undefined, logs: [], calls: [] }
    const commit = { ...more, id: crypto.randomUUID(), seen, documents: [of('a', 2), of('b', 1)] }
    const first = await far.commit(commit)
    expect(first).toBeDefined()
    expect(await far.commit(commit)).toEqual(first)
    // Another one with the same knowledge writes nothing.
    expect(await far.commit({ ...commit, id: crypto.randomUUID() })).toBeUndefined()
    const absent = { documents: [{ collection: 'c', id: 'b', version: undefined }], logs: [] }
    const inserting = { ...more, id: crypto.randomUUID(), seen: absent, documents: [of('b', 9)] }
    expect(await far.commit(inserting)).toBeUndefined()
    expect(await store.read(tx => [tx.get('c', 'a')?.value, tx.get('c', 'b')?.value])).toEqual([2, 1])
  })

  it('writes nothing where what was seen has changed, or has come to be', async () => {
    const schema = newSchema()
    const store = open(schema)
    await store.write(tx => tx.put('c', doc('a')))
    const far = postgresRemote(connect(), quoted(schema), async () => {})
    const commit = async (documents: object[], logs: object[] = []) => {
      const document = { collection: 'c', id: 'b', document: doc('b'), eviction: undefined }
      const seen = { documents, logs }
      const given = { id: crypto.randomUUID(), seen, documents: [document], logs: [], calls: [] }
      return (await far.commit(given as never)) !== undefined
    }
    expect(await commit([{ collection: 'c', id: 'a', version: undefined }])).toBe(false)
    expect(await commit([{ collection: 'c', id: 'a', version: '999999' }])).toBe(false)
    expect(await commit([], [{ log: 'l', version: '7', head: undefined }])).toBe(false)
    expect(await store.read(tx => tx.get('c', 'b'))).toBeUndefined()
    expect(await commit([{ collection: 'c', id: 'none', version: undefined }])).toBe(true)
    expect(await store.read(tx => tx.get('c', 'b'))).toBeDefined()
  })
})

describe('a lease', () => {
  const times = { renewMs: 50, leaseMs: 1000 }

  it('lasts as long as it is renewed, and ends with its process', async () => {
    const schema = newSchema()
    const [one, other] = [open(schema, times), open(schema, times)]
    await Promise.all([one.read(tx => tx.now), other.read(tx => tx.now)])
    const { instance } = other
    expect(one.isAlive(instance)).toBe(true)
    expect(one.isAlive('nobody has seen it yet')).toBe(true)
    other.close()
    await vi.waitFor(() => expect(one.isAlive(instance)).toBe(false), { timeout: 30_000 })
  })

  it('that ended long ago is known, and read once', async () => {
    const schema = newSchema()
    const driver = connect()
    await open(schema, times).read(tx => tx.now)
    await driver.query(
      `INSERT INTO ${schema}.workers (instance, seen, gone)
        SELECT 'old ' || n, now() - interval '2 hours', now() - interval '2 hours' FROM generate_series(1, 2000) n`,
      [],
    )
    const lengths: number[] = []
    const query: PostgresDriver['query'] = async (text, ...rest) => {
      const rows = await driver.query(text, ...rest)
      if (text.startsWith('WITH renewed')) lengths.push(rows.length)
      return rows
    }
    const store = postgresStore({ driver: { ...driver, query }, schema, times })
    opened.push(store)
    await store.read(tx => tx.now)
    await vi.waitFor(() => expect(lengths.length).toBeGreaterThan(3), { timeout: 30_000 })
    expect([store.isAlive('old 1'), store.isAlive('old 2000')]).toEqual([false, false])
    expect(lengths.map(length => length > 2000)).toEqual([true, ...lengths.slice(1).map(() => false)])
  })

  it('is taken though the first answer was lost', async () => {
    const driver = connect()
    let isLost = false
    const query: PostgresDriver['query'] = async (text, values, options) => {
      const rows = await driver.query(text, values, options)
      if (text.startsWith('INSERT') && !isLost) {
        isLost = true
        throw new Error('the answer was lost')
      }
      return rows
    }
    const store = postgresStore({ driver: { ...driver, query }, schema: newSchema() })
    opened.push(store)
    expect(await store.write(countUp, 20_000)).toBe(1)
    expect(isLost).toBe(true)
  })

  it('that was lost gives a new name', async () => {
    const schema = newSchema()
    // It renews so seldom that it is gone in between.
    const [frozen, other] = [open(schema, { renewMs: 3000, leaseMs: 1000 }), open(schema, times)]
    await Promise.all([frozen.read(tx => tx.now), other.read(tx => tx.now)])
    const before = frozen.instance
    await vi.waitFor(() => expect(other.isAlive(before)).toBe(false), { timeout: 30_000 })
    await vi.waitFor(() => expect(frozen.instance).not.toBe(before), { timeout: 30_000 })
    expect(other.isAlive(frozen.instance)).toBe(true)
    expect(await frozen.write(countUp)).toBe(1)
  })

  it('that was lost is known before anything is written', async () => {
    const schema = newSchema()
    const [frozen, other] = [open(schema, { renewMs: 60_000, leaseMs: 1000 }), open(schema, times)]
    await Promise.all([frozen.read(tx => tx.now), other.read(tx => tx.now)])
    const before = frozen.instance
    await vi.waitFor(() => expect(other.isAlive(before)).toBe(false), { timeout: 30_000 })
    const own = await frozen.write(tx => {
      countUp(tx)
      return frozen.instance
    })
    expect(own).not.toBe(before)
    expect(other.isAlive(own)).toBe(true)
  })

  it('that was lost is known to what is written while the next name is taken', async () => {
    const schema = newSchema()
    const other = open(schema, times)
    await other.read(tx => tx.now)
    const [asked, given] = [deferred<void>(), deferred<void>()]
    let isBegun = false
    const driver = connect()
    const query: PostgresDriver['query'] = async (text, values, options) => {
      if (isBegun && text.startsWith('INSERT INTO') && text.includes('.workers')) {
        asked.resolve()
        await given.promise
      }
      return driver.query(text, values, options)
    }
    const frozen = postgresStore({
      driver: { ...driver, query },
      schema,
      times: { renewMs: 3000, leaseMs: 1000 },
    })
    opened.push(frozen)
    await frozen.read(tx => tx.now)
    isBegun = true
    const before = frozen.instance
    await asked.promise
    const writing = frozen.write(tx => {
      countUp(tx)
      return frozen.instance
    })
    // It may not be written meanwhile.
    for (let rounds = 0; rounds < 20; rounds++) await other.read(tx => tx.now)
    given.resolve()
    expect(await writing).not.toBe(before)
  })

  it('ends with its store, which opens again under another name', async () => {
    const schema = newSchema()
    const [one, other] = [open(schema, times, true), open(schema, times)]
    expect(await one.write(countUp)).toBe(1)
    const before = one.instance
    await one.close()
    await eventually(async () => {
      await other.read(tx => tx.count('c'))
      expect(other.isAlive(before)).toBe(false)
    })
    expect(await one.write(countUp)).toBe(2)
    expect(one.instance).not.toBe(before)
    expect(other.isAlive(one.instance)).toBe(true)
    const hearing = await one.watch!('log', () => {})
    await vi.waitFor(() => expect(hearing.isLive).toBe(true), { timeout: 30_000 })
    hearing.stop()
  })
})

it('any text is stored so that it comes back, in the order of texts', () => {
  const text = fc.string({ unit: fc.constantFrom('\0', '\u0001', '\u0002', 'a', '😀') })
  fc.assert(
    fc.property(text, text, (one, other) => {
      expect(restored(stored(one))).toBe(one)
      expect(stored(one)).not.toContain('\0')
      expect(Math.sign(Buffer.compare(Buffer.from(stored(one)), Buffer.from(stored(other))))).toBe(
        Math.sign(Buffer.compare(Buffer.from(one), Buffer.from(other))),
      )
    }),
  )
})
