import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { deferred } from '../../../src/base/wake.ts'
import { localState } from '../../../src/core/local-state.ts'
import { createId, createKey, idOf } from '../../../src/features/keys/codec.ts'
import { callerKeys, keysAuth } from '../../../src/features/keys/plugin.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import { createHandler, memoryState, platform } from '../../../src/index.ts'
import { bound } from '../../../src/stores/bound.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store, Transaction } from '../../../src/stores/store.ts'
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
    expect(() =>
      createHandler({ plugins: [keys], middleware: [], state: memoryState(), production: true }),
    ).toThrow(wrong(/authenticate/))
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

describe('a role of a key', () => {
  const roles = async (
    who: ReturnType<typeof usesOf>['ask'],
    path: string,
    key: string,
    init: RequestInit = {},
  ) => (await who(path, { ...init, headers: { ...init.headers, authorization: `Bearer ${key}` } })).status

  it('lets its owner read what is of others, until it is taken away', async () => {
    const { ask, issue } = service({}, { runs: { store: 'all' } })
    const ann = await issue({ owner: 'ann', scopes: ['all'] })
    const eve = await issue({ owner: 'eve', scopes: ['read'], roles: ['viewer'] })
    expect(eve.roles).toEqual(['viewer'])
    await roles(ask, 'agents/says/run', ann.key, jsonRequest({ input: 'x' }))
    expect(await roles(ask, 'runs?owner=ann', eve.key)).toBe(200)
    expect(await roles(ask, 'runs?owner=eve', ann.key)).toBe(404)
    // The scope of the key holds beside its roles.
    expect(await roles(ask, 'runs/x/cancel?owner=ann', eve.key, { method: 'POST' })).toBe(403)
    const change = jsonRequest({ roles: [] }, { authorization: 'Bearer root' })
    expect((await ask(`keys/${eve.id}`, { ...change, method: 'PATCH' })).status).toBe(200)
    expect(await roles(ask, 'runs?owner=ann', eve.key)).toBe(404)
  })

  it('is no wider than those of whoever gives it', async () => {
    const keys = callerKeys()
    const access = { steward: ['keys', 'list'] } as const
    const middleware = [
      keysAuth(keys, {
        tokens: { boss: { id: 'boss', roles: ['admin'] }, joe: { id: 'joe', roles: ['steward'] } },
      }),
    ]
    const { ask } = service({}, { production: true, plugins: [keys], middleware, access })
    const issue = async (by: string, given: string[]) => {
      const body = { owner: 'eve', name: 'test', scopes: ['run'], roles: given }
      const response = await ask('keys', jsonRequest(body, { authorization: `Bearer ${by}` }))
      return { status: response.status, ...(await response.json()) }
    }
    expect(await issue('joe', ['steward'])).toMatchObject({ status: 201, roles: ['steward'] })
    expect(await issue('joe', ['steward', 'viewer'])).toMatchObject({ status: 403, code: 'forbidden' })
    const strong = await issue('boss', ['admin'])
    expect(strong.status).toBe(201)
    expect(await roles(ask, `keys/${strong.id}/rotate`, 'joe', jsonRequest({}))).toBe(403)
    const change = { ...jsonRequest({ roles: ['admin'] }), method: 'PATCH' }
    expect(await roles(ask, `keys/${strong.id}`, 'joe', change)).toBe(403)
    expect(await roles(ask, 'keys', strong.key)).toBe(403)
    const wide = await issue('boss', ['admin'])
    expect(await roles(ask, 'keys', wide.key)).toBe(403)
    expect((await issue('boss', ['x y'])).status).toBe(400)
    expect(
      (
        await issue(
          'boss',
          Array.from({ length: 21 }, () => 'viewer'),
        )
      ).status,
    ).toBe(400)
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

/** A store in memory, with the number of reads that look for a key. They answer when `held` lets them, and `as` for every id. */
function counted() {
  const inner = memoryStore()
  const asked = { reads: 0, held: Promise.resolve(), as: '' }
  const store: Store = Object.assign(Object.create(inner), {
    async read<T>(work: Parameters<typeof inner.read<T>>[0]) {
      let isOfKeys = false
      const found = inner.read(tx => {
        const each = bound(tx as Transaction)
        return work({
          ...each,
          get(collection, id) {
            isOfKeys ||= collection === 'caller-key'
            return each.get(collection, (isOfKeys && asked.as) || id)
          },
        })
      })
      if (!isOfKeys) return found
      asked.reads++
      await asked.held
      return found
    },
  })
  return { store, asked }
}

describe('what a process remembers', () => {
  it.each([
    ['10,000 keys', 10_000],
    ['1000 ids that have none', 1000],
  ])('is up to %s, whatever clients send', async (_, most) => {
    const { store, asked } = counted()
    const { issue, run } = service({ cacheMs: 300_000 }, { store })
    if (most === 10_000) asked.as = (await issue()).id
    asked.reads = 0
    const keys = Array.from({ length: most + 1 }, () => createKey(createId()))
    for (const key of keys) await run(key)
    const readsFor = async (key: string | undefined) => {
      asked.reads = 0
      expect(await run(key!)).toBe(401)
      return asked.reads
    }
    expect(asked.reads).toBe(most + 1)
    expect([await readsFor(keys.at(-1)), await readsFor(keys[1]), await readsFor(keys[0])]).toEqual([0, 0, 1])
  })

  it('costs the state one question for many requests, of keys that there are and that there are not', async () => {
    const { store, asked } = counted()
    const { issue, run } = service({ cacheMs: 300_000 }, { store })
    const id = createId()
    for (const [key, status] of [
      [(await issue()).key, 200],
      [createKey(id), 401],
    ] as const) {
      asked.reads = 0
      const statuses = await Promise.all(Array.from({ length: 50 }, () => run(key)))
      expect([new Set([...statuses, await run(key)]), asked.reads]).toEqual([new Set([status]), 1])
      // A secret that is wrong costs no question either.
      expect([await run(createKey(idOf(key)!)), asked.reads]).toEqual([401, 1])
    }
  })

  it('is nothing that was read before a change', async () => {
    const { store, asked } = counted()
    const { issue, revoke, run } = service({ cacheMs: 300_000 }, { store })
    const issued = await issue()
    const { promise, resolve } = deferred<void>()
    asked.held = promise
    const early = run(issued.key)
    await eventually(() => expect(asked.reads).toBe(1))
    await revoke(issued)
    const late = run(issued.key)
    await eventually(() => expect(asked.reads).toBe(2))
    resolve()
    // What the first one has read lets in neither it nor anybody after it.
    expect([await early, await late, await run(issued.key)]).toEqual([401, 401, 401])
  })
})

describe('what is kept', () => {
  const HOUR = 60 * 60 * 1000
  const begun = Date.parse('2026-01-01T00:00:00Z')
  /** Each call is another process on one store, at another time. */
  const processes = () => {
    const store = memoryStore()
    const clock = vi.spyOn(Date, 'now').mockReturnValue(begun)
    onTestFinished(() => clock.mockRestore())
    return (after: number) => {
      clock.mockReturnValue(begun + after)
      return { ...service({}, { store }), store }
    }
  }
  const root = { headers: { authorization: 'Bearer root' } }

  it('has the last use once an hour', async () => {
    const at = processes()
    const { key, id } = await at(0).issue()
    const written: number[] = []
    for (const after of [1, 2, HOUR, HOUR + 1, 2 * HOUR]) {
      const { run, ask } = at(after)
      expect(await run(key)).toBe(200)
      const { lastUsedAt } = await (await ask(`keys/${id}`, root)).json()
      written.push(Date.parse(lastUsedAt) - begun)
    }
    expect(written).toEqual([1, 1, 1, HOUR + 1, HOUR + 1])
  })

  it('has no digest of a key that is revoked, and goes after a while', async () => {
    const at = processes()
    const { issue, ask, revoke, store } = at(0)
    const issued = await issue()
    const rotation = jsonRequest({ graceMs: 1000 }, root.headers)
    const { key } = await (await ask(`keys/${issued.id}/rotate`, rotation)).json()
    const digests = await Promise.all([issued.key, key].map(sha256))
    const kept = () => JSON.stringify(store.read(tx => tx.get('caller-key', issued.id)))
    for (const digest of digests) expect(kept()).toContain(digest)
    await revoke(issued)
    for (const digest of digests) expect(kept()).not.toContain(digest)
    // A use does not make it last.
    expect(await at(HOUR).run(key)).toBe(401)
    const month = 30 * 24 * HOUR
    for (const [after, status] of [
      [month - 1, 200],
      [month, 404],
    ] as const) {
      const { issue, ask } = at(after)
      await issue()
      expect((await ask(`keys/${issued.id}`, root)).status).toBe(status)
    }
  })

  it('is deleted with its owner, however much it is', async () => {
    const keys = callerKeys({ authenticate, maxKeys: 1000 })
    const { issue, ask } = service({}, { plugins: [keys, sessions()], middleware: [keysAuth(keys)] })
    const { key } = await issue({ owner: 'even', scopes: ['all'] })
    for (let count = 0; count < 250; count++) await issue({ owner: count % 2 === 0 ? 'even' : 'odd' })
    const headers = { authorization: `Bearer ${key}` }
    expect((await ask('users/me', { method: 'DELETE', headers })).status).toBe(204)
    const left = async (owner: string) =>
      (await (await ask(`keys?owner=${owner}&limit=100`, root)).json()).keys.length
    expect([await left('even'), await left('odd')]).toEqual([0, 100])
  })
})
