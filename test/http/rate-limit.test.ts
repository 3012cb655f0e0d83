import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLocalCount } from '../../src/http/limits/rate-limit.ts'
import { bearerAuth, createHandler, type HandlerOptions, memoryState, platform } from '../../src/index.ts'
import { sqliteState } from '../../src/runtimes/sqlite.ts'

const agents = { echo: { run: async () => ({ text: 'x' }) as never } }

const CARD = '/.well-known/agent-card.json'

function make(options: HandlerOptions) {
  const handler = createHandler({
    registry: false,
    logger: false,
    agents,
    a2a: true,
    gateway: true,
    ...options,
  })
  return (path = '/api/nothing', ip?: string, headers: Record<string, string> = {}) =>
    handler(new Request(`http://127.0.0.1${path}`, { headers }), platform({ ip }))
}

describe('a rate limit', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('lets so many through in a window, and says when the next one begins', async () => {
    const ask = make({ rateLimit: { max: 3, windowMs: 10_000 } })
    const first = await ask(CARD, '1.2.3.4')
    expect(first.headers.get('ratelimit')).toBe('"default";r=2;t=10')
    expect(first.headers.get('ratelimit-policy')).toBe('"default";q=3;w=10')
    await ask(CARD, '1.2.3.4')
    vi.advanceTimersByTime(4000)
    expect((await ask(CARD, '1.2.3.4')).status).toBe(200)
    const refused = await ask(CARD, '1.2.3.4')
    expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('ratelimit')]).toEqual([
      429,
      '6',
      '"default";r=0;t=6',
    ])
    expect(await refused.json()).toMatchObject({ code: 'rate_limited', status: 429 })
    expect((await ask(CARD, '5.6.7.8')).status).toBe(200)
    vi.advanceTimersByTime(6000)
    expect((await ask(CARD, '1.2.3.4')).status).toBe(200)
  })

  it('says how much is left on errors too', async () => {
    const ask = make({ rateLimit: { max: 3, windowMs: 10_000 } })
    const missing = await ask('/api/agents/nobody', '1.2.3.4')
    expect([missing.status, missing.headers.get('ratelimit')]).toEqual([404, '"default";r=2;t=10'])
  })

  it('is 100 a minute by default, and off where it is not asked for', async () => {
    const ask = make({ rateLimit: true })
    for (let request = 0; request < 100; request++) expect((await ask()).status).toBe(404)
    expect((await ask()).status).toBe(429)
    const free = make({})
    for (let request = 0; request < 200; request++) expect((await free()).status).toBe(404)
  })

  it.each([
    '/api/agents/echo/run',
    '/',
    '/.well-known/agent-card.json',
    '/socket.io/?EIO=4&transport=polling',
    '/none',
  ])('counts every part: %s', async path => {
    const ask = make({ rateLimit: { max: 1 } })
    await ask(path)
    expect((await ask(path)).status).toBe(429)
  })

  it('does not count health, nor a preflight', async () => {
    const ask = make({ rateLimit: { max: 1 }, cors: true })
    for (let request = 0; request < 5; request++) expect((await ask('/api/health')).status).toBe(200)
    expect((await ask()).status).toBe(404)
  })

  it('believes a header where it is told to, and in it the proxy that is nearest', async () => {
    const ask = make({ trustProxy: 'X-Forwarded-For', rateLimit: { max: 1 } })
    const from = (value: string) => ask('/x', '10.0.0.1', { 'x-forwarded-for': value })
    expect((await from('9.9.9.9, 1.1.1.1')).status).toBe(404)
    expect((await from('8.8.8.8, 1.1.1.1')).status).toBe(429)
    expect((await from('2.2.2.2')).status).toBe(404)
    const strict = make({ rateLimit: { max: 1 } })
    await strict('/x', '10.0.0.1', { 'x-forwarded-for': '1.1.1.1' })
    expect((await strict('/x', '10.0.0.1', { 'x-forwarded-for': '2.2.2.2' })).status).toBe(429)
  })

  it('goes by a key of the deployment, and passes what has none', async () => {
    const key = (request: Request) => request.headers.get('x-tenant') ?? undefined
    const ask = make({ rateLimit: { max: 1, key } })
    const tenant = (name: string) => ask('/x', undefined, { 'x-tenant': name })
    expect([(await tenant('a')).status, (await tenant('b')).status, (await tenant('a')).status]).toEqual([
      404, 404, 429,
    ])
    for (let request = 0; request < 5; request++) expect((await ask()).status).toBe(404)
  })

  it('goes by who the middleware says it is', async () => {
    const middleware = [bearerAuth({ tokens: { a: 'ada', b: 'bob' } })]
    const ask = make({ rateLimit: { max: 1, key: (_, { identity }) => identity?.id }, middleware })
    const as = async (token: string) =>
      (await ask('/x', undefined, { authorization: `Bearer ${token}` })).status
    expect([await as('a'), await as('b'), await as('a'), await as('none')]).toEqual([404, 404, 429, 401])
  })

  it('fails where the key is no text, rather than count nobody', async () => {
    const key = (async () => 'later') as never
    expect((await make({ rateLimit: { max: 1, key } })('/x')).status).toBe(500)
  })

  it('keeps no key as it came', async () => {
    // A database gathers what it writes for a moment.
    vi.useFakeTimers({ toFake: ['Date'] })
    const folder = await mkdtemp(join(tmpdir(), 'servable-keys-'))
    try {
      const path = join(folder, 'state.db')
      const key = (request: Request) => request.headers.get('x-service-key') ?? undefined
      const ask = make({ state: sqliteState({ path }), rateLimit: { max: 1, shared: true, key } })
      const asked = async () => (await ask('/x', undefined, { 'x-service-key': 'sk-canary-limit' })).status
      expect([await asked(), await asked()]).toEqual([404, 429])
      const kept = await Promise.all(
        (await readdir(folder)).map(name => readFile(join(folder, name), 'latin1')),
      )
      expect(kept.join('')).toContain('rate-window')
      expect(kept.join('')).not.toContain('sk-canary')
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('is the same for all addresses of a network, and all ports of an address', async () => {
    const ask = make({ trustProxy: 'x-real-ip', rateLimit: { max: 1 } })
    const from = async (address: string) => (await ask('/x', undefined, { 'x-real-ip': address })).status
    expect([await from('2001:db8::1'), await from('2001:db8::2')]).toEqual([404, 429])
    expect([await from('1.2.3.4:1'), await from('1.2.3.4:2')]).toEqual([404, 429])
  })

  it.each([
    ['in this process', undefined],
    ['in a store in memory', memoryState()],
    ['in SQLite', sqliteState({ path: ':memory:' })],
  ])('begins a window anew where the clock is set back behind its start: %s', async (_, state) => {
    const shared = state !== undefined
    // A database gathers what it writes for a moment.
    vi.useFakeTimers({ toFake: ['Date'] })
    const ask = make({ ...(state && { state }), rateLimit: { max: 1, windowMs: 10_000, shared } })
    const status = async () => (await ask(CARD, '1.2.3.4')).status
    expect([await status(), await status()]).toEqual([200, 429])
    // Within the window all is as before.
    vi.setSystemTime(Date.now() + 1000)
    expect(await status()).toBe(429)
    vi.setSystemTime(Date.now() - 3_600_000)
    const again = await ask(CARD, '1.2.3.4')
    expect([again.status, again.headers.get('ratelimit')]).toEqual([200, '"default";r=0;t=10'])
    expect(await status()).toBe(429)
    vi.setSystemTime(Date.now() + 10_000)
    expect(await status()).toBe(200)
  })

  it('sweeps on where the clock has been set back', () => {
    const count = createLocalCount({ windowMs: 1000 })
    count('early')
    vi.setSystemTime(Date.now() - 3_600_000)
    const before = count('early')
    expect(before).toMatchObject({ count: 1, endsAt: Date.now() + 1000 })
  })

  it('counts a name by its first characters, however long it is', async () => {
    const ask = make({ rateLimit: { max: 1 } })
    const from = async (address: string) => (await ask('/x', address)).status
    expect([await from(`${'a'.repeat(300)}1`), await from(`${'a'.repeat(300)}2`)]).toEqual([404, 429])
  })

  it('forgets windows that are past, and holds no more clients than it may', () => {
    const count = createLocalCount({ windowMs: 1000 })
    for (let client = 0; client < 100_005; client++) count(`client ${client}`)
    // The first ones made room for the last.
    expect(count('client 0')).toMatchObject({ count: 1 })
    expect(count('client 100004')).toMatchObject({ count: 2 })
  })
})

describe('a shared rate limit', () => {
  it.each([
    ['memory', memoryState],
    ['SQLite', () => sqliteState({ path: ':memory:' })],
  ])('counts all handlers of one state together: %s', async (_, makeState) => {
    const state = makeState()
    const max = 40
    const asks = Array.from({ length: 4 }, () =>
      make({ state, rateLimit: { max, shared: true, windowMs: 600_000 } }),
    )
    const statuses = await Promise.all(
      Array.from({ length: 16 }, async (_client, client) => {
        const seen: number[] = []
        for (let request = 0; request < 10; request++)
          seen.push((await asks[client % 4]!('/x', '1.1.1.1')).status)
        return seen
      }),
    )
    expect(statuses.flat().filter(status => status === 404)).toHaveLength(max)
    expect(statuses.flat().filter(status => status === 429)).toHaveLength(160 - max)
  })
})
