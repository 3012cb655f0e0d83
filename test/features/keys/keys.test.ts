import { describe, expect, it } from 'vitest'
import { localCalls } from '../../../src/core/transaction-calls.ts'
import { createId, createKey } from '../../../src/features/keys/codec.ts'
import { ENDED_MS, KEY_TRANSACTIONS, USED_MS } from '../../../src/features/keys/kept.ts'
import { Keyring, MAX_KNOWN, MAX_UNKNOWN } from '../../../src/features/keys/keyring.ts'
import { callerKeys, keysAuth } from '../../../src/features/keys/plugin.ts'
import { createHandler, memoryState, platform } from '../../../src/index.ts'
import { localState } from '../../../src/runs/stored/local-state.ts'
import { bound } from '../../../src/stores/bound.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store } from '../../../src/stores/store.ts'
import { sha256 } from '../../../src/web/digest.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { eventually } from '../../eventually.ts'
import { untyped } from '../../support.ts'
import { authenticate, says, service, usesOf } from './kit.ts'

describe('options', () => {
  it.each([
    ['maxKeys', { maxKeys: 0 }],
    ['cacheMs', { cacheMs: -1 }],
    ['cacheMs', { cacheMs: 300_001 }],
    ['scopes', { scopes: ['run'] }],
    ['scopes', { scopes: ['agent:says'] }],
    ['scopes', { scopes: ['with space'] }],
    ['authenticate', { authenticate: 'yes' }],
    ['other', { other: 1 }],
  ])('refuses a wrong `%s`', (name, options) => {
    expect(() => callerKeys(untyped(options))).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining(name) }),
    )
  })

  it('refuses what `keysAuth` cannot check', () => {
    const keys = callerKeys()
    const wrong = (message: RegExp) =>
      expect.objectContaining({ code: 'invalid_options', message: expect.stringMatching(message) })
    expect(() => keysAuth(untyped({}))).toThrow(wrong(/callerKeys/))
    expect(() => keysAuth(keys, { header: 'x-api-key' })).toThrow(wrong(/x-api-key/))
    expect(() => keysAuth(keys, { tokens: {}, verify: () => undefined })).toThrow(wrong(/keysAuth/))
    expect(() => keysAuth(keys, untyped({ tokns: {} }))).toThrow(wrong(/tokns/))
    expect(() => createHandler({ middleware: [keysAuth(keys)], state: memoryState() })).toThrow(
      wrong(/`plugins` lacks/),
    )
    expect(() => createHandler({ plugins: [keys], state: memoryState(), production: true })).toThrow(
      wrong(/authenticate/),
    )
  })

  it('opens `/keys` to this machine alone without `authenticate`', async () => {
    const logged: object[] = []
    const keys = callerKeys()
    const handler = createHandler({
      production: false,
      plugins: [keys],
      logger: entry => void logged.push(entry),
      state: memoryState(),
    })
    expect(logged).toContainEqual(expect.objectContaining({ event: 'keys.open' }))
    const statusAt = async (host: string, given?: object) =>
      (await handler(new Request(`http://${host}/api/keys`), given)).status
    expect(await statusAt('localhost', platform({ ip: '127.0.0.1' }))).toBe(200)
    expect(await statusAt('example.com', platform({ ip: '127.0.0.1' }))).toBe(403)
    expect(await statusAt('localhost', platform({ ip: '192.168.1.7' }))).toBe(403)
    expect(await statusAt('localhost')).toBe(403)
  })
})

describe('a key', () => {
  it('travels in a header of its own', async () => {
    const { issue, ask, run, handler } = service({}, { auth: { header: 'x-service-key' } })
    const { key } = await issue()
    const init = jsonRequest({ input: 'x' }, { 'x-service-key': key })
    expect((await ask('agents/says/run', init)).status).toBe(200)
    expect(await run(key)).toBe(401)
    const { headers } = await handler(new Request('http://127.0.0.1/api/runs'))
    expect(headers.get('www-authenticate')).toBe('ApiKey header="x-service-key"')
  })

  it('is good beside tokens that a function checks', async () => {
    const { issue, run, logged } = service(
      {},
      {
        auth: {
          verify(token) {
            if (token === 'broken') throw new Error('nobody knows')
            return token === 'bob' ? { id: 'bob' } : undefined
          },
        },
      },
    )
    const { key } = await issue()
    expect(await Promise.all([key, 'bob', 'eve', 'broken'].map(run))).toEqual([200, 200, 401, 401])
    expect(logged).toContainEqual(expect.objectContaining({ event: 'authenticate.failed' }))
  })

  it('is asked for by nobody where all is open', async () => {
    const { ask } = service()
    expect((await ask('health')).status).toBe(200)
  })

  it('lets in what has no `keyId` of ours to run as before', async () => {
    const keys = callerKeys({ authenticate })
    const handler = createHandler({
      agents: { says },
      registry: false,
      state: memoryState(),
      plugins: [keys],
      middleware: [
        (request, context, next) => {
          context.identity = { id: 'eve', scopes: [], ...(request.headers.has('x-forged') && { keyId: 'x' }) }
          return next()
        },
      ],
    })
    const { ask } = usesOf(handler)
    expect((await ask('agents/says/run', jsonRequest({ input: 'x' }))).status).toBe(200)
    // Nobody says that it has come with a key which there is not.
    expect((await ask('agents/says/run', jsonRequest({ input: 'x' }, { 'x-forged': '1' }))).status).toBe(401)
  })
})

describe('several handlers', () => {
  it('of one process heed at once what one of them changes', async () => {
    const store = memoryStore()
    const { keys, issue, revoke, run, handler } = service({ cacheMs: 300_000 }, { store })
    const other = usesOf(
      createHandler({ ...optionsOver(store), plugins: [keys], middleware: [keysAuth(keys)] }),
    )
    const issued = await issue()
    expect([await run(issued.key), await other.run(issued.key)]).toEqual([200, 200])
    await revoke(issued)
    expect([await run(issued.key), await other.run(issued.key)]).toEqual([401, 401])
    expect(handler).toBeTypeOf('function')
  })

  it('with stores of their own have keys of their own', async () => {
    const { keys, issue } = service()
    const other = usesOf(
      createHandler({ ...optionsOver(memoryStore()), plugins: [keys], middleware: [keysAuth(keys)] }),
    )
    expect(await other.run((await issue()).key)).toBe(401)
  })

  it('of two processes refuse a revoked key once they have forgotten it', async () => {
    const store = memoryStore()
    const [one, brief, long] = [0, 100, 300_000].map(cacheMs => service({ cacheMs }, { store }))
    const issued = await one!.issue()
    expect(await Promise.all([one, brief, long].map(each => each!.run(issued.key)))).toEqual([200, 200, 200])
    await one!.revoke(issued)
    expect(await one!.run(issued.key)).toBe(401)
    await eventually(async () => expect(await brief!.run(issued.key)).toBe(401))
    // It is remembered for as long as the option says.
    expect(await long!.run(issued.key)).toBe(200)
  })
})

const optionsOver = (store: Store) => ({
  agents: { says },
  registry: false as const,
  state: localState({ store, retention: {}, isVolatile: false }),
})

describe('a state that fails', () => {
  it('lets nobody in, and says so', async () => {
    const inner = memoryStore()
    let isBroken = false
    const store: Store = Object.assign(Object.create(inner), {
      read<T>(work: Parameters<typeof inner.read<T>>[0]) {
        if (isBroken) throw new Error('the disk is gone')
        return inner.read(work)
      },
    })
    const { issue, run, ask, logged } = service({ cacheMs: 0 }, { store, production: true })
    const { key } = await issue()
    expect(await run(key)).toBe(200)
    isBroken = true
    const init = jsonRequest({ input: 'x' }, { authorization: `Bearer ${key}` })
    const response = await ask('agents/says/run', init)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBeTruthy()
    expect(await response.json()).toMatchObject({ code: 'state_unavailable' })
    expect(logged).toContainEqual(expect.objectContaining({ event: 'request.failed' }))
    expect(JSON.stringify(logged)).not.toContain(key)
    // What is no key by its form is looked up nowhere.
    expect(await run('sk_servable_x')).toBe(401)
    isBroken = false
    expect(await run(key)).toBe(200)
  })
})

describe('what a process remembers', () => {
  const ringOver = (store: Store, cacheMs: number) =>
    new Keyring({ calls: localCalls(store, KEY_TRANSACTIONS), cacheMs, joins: true, changes: { count: 0 } })

  it('is bounded, whatever clients send', async () => {
    const ring = ringOver(memoryStore(), 300_000)
    for (let count = 0; count < 10_000; count++) await ring.check(createKey(createId()))
    expect(ring.size).toBe(MAX_UNKNOWN)
    expect(MAX_KNOWN).toBe(10_000)
  })

  it('costs the state one question for many requests, of keys that there are and that there are not', async () => {
    const inner = memoryStore()
    let reads = 0
    const store: Store = Object.assign(Object.create(inner), {
      async read<T>(work: Parameters<typeof inner.read<T>>[0]) {
        reads++
        return inner.read(work)
      },
    })
    const ring = ringOver(store, 300_000)
    const { calls } = ringOver(inner, 0)
    for (const isThere of [true, false]) {
      const id = createId()
      const key = createKey(id)
      const terms = { owner: 'ada', name: 'x', scopes: ['run'] }
      if (isThere) await calls.issue('keys', { ...terms, id, digest: await sha256(key) }, 10)
      reads = 0
      const found = await Promise.all(Array.from({ length: 50 }, () => ring.check(key)))
      await ring.check(key)
      // A secret that is wrong costs no question either.
      expect(await ring.check(createKey(id))).toBeUndefined()
      expect([new Set(found.map(each => each !== undefined)), reads]).toEqual([new Set([isThere]), 1])
    }
  })

  it('is nothing that was read before a change', async () => {
    const inner = memoryStore()
    const { calls } = ringOver(inner, 0)
    const id = createId()
    const key = createKey(id)
    await calls.issue('keys', { owner: 'ada', name: 'x', scopes: ['run'], id, digest: await sha256(key) }, 10)
    let go = () => {}
    const held = new Promise<void>(resolve => {
      go = resolve
    })
    const store: Store = Object.assign(Object.create(inner), {
      async read<T>(work: Parameters<typeof inner.read<T>>[0]) {
        const found = await inner.read(work)
        await held
        return found
      },
    })
    const ring = ringOver(store, 300_000)
    const early = ring.check(key)
    await ring.change(each => each.revoke('keys', id))
    const late = ring.check(key)
    go()
    expect((await early)?.id).toBe(id)
    expect(await late).toBeUndefined()
    expect(await ring.check(key)).toBeUndefined()
  })
})

describe('what is kept', () => {
  const store = memoryStore()
  const works = KEY_TRANSACTIONS
  const at = <T>(now: number, work: (tx: Parameters<typeof works.writes.use>[0]) => T): T =>
    store.write(tx => work({ ...bound(tx), now }))
  const HOUR = 60 * 60 * 1000

  it('has the last use once an hour', () => {
    const writes: (number | undefined)[] = []
    at(0, tx => works.writes.issue(tx, { id: 'a', owner: 'o', name: 'n', scopes: [], digest: 'd' }, 10))
    for (const now of [1, 2, HOUR, HOUR + 1, 2 * HOUR]) {
      at(now, tx => works.writes.use(tx, 'a'))
      writes.push(at(now, tx => works.reads.find(tx, 'a'))?.lastUsedAt)
    }
    expect(USED_MS).toBe(HOUR)
    expect(writes).toEqual([1, 1, 1, HOUR + 1, HOUR + 1])
  })

  it('has no digest of a key that is revoked, and goes after a while', () => {
    at(HOUR, tx => works.writes.rotate(tx, 'a', 'e', 1000))
    expect(at(HOUR, tx => works.reads.find(tx, 'a'))).toMatchObject({
      digest: 'e',
      previous: { digest: 'd' },
    })
    at(HOUR, tx => works.writes.revoke(tx, 'a'))
    const kept = at(HOUR, tx => works.reads.find(tx, 'a'))
    expect(kept).toMatchObject({ revokedAt: HOUR, digest: undefined, previous: undefined })
    at(HOUR, tx => works.writes.use(tx, 'a'))
    const later = HOUR + ENDED_MS + 1
    at(later, tx => works.writes.issue(tx, { id: 'b', owner: 'o', name: 'n', scopes: [], digest: 'd' }, 10))
    expect(at(later, tx => works.reads.find(tx, 'a'))).toBeUndefined()
  })

  it('is deleted with its owner, however much it is', () => {
    for (let count = 0; count < 250; count++) {
      const owner = count % 2 === 0 ? 'even' : 'odd'
      at(1, tx =>
        works.writes.issue(tx, { id: `k${count}`, owner, name: 'n', scopes: [], digest: 'd' }, 1000),
      )
    }
    let deleted = 0
    for (let ids = ['']; ids.length > 0; deleted += ids.length)
      ids = [...at(2, tx => works.writes.forget(tx, 'even'))]
    expect(deleted).toBe(125)
    expect(at(2, tx => works.reads.find(tx, 'k1'))?.owner).toBe('odd')
  })
})
