import { describe, expect, it } from 'vitest'
import {
  createHandler,
  type HandlerOptions,
  type LogEntry,
  type Middleware,
  platform,
} from '../../src/index.ts'
import { createEngine } from '../../src/protocols/event-socket/socket/index.ts'

const POLLING = '/socket.io/?EIO=4&transport=polling'

/** A handler that notes what its middleware sees and what it logs. */
function make(options: HandlerOptions = {}) {
  const entries: LogEntry[] = []
  const seen: (string | undefined)[] = []
  const look: Middleware = (_request, { ip }, next) => {
    seen.push(ip)
    return next()
  }
  const handler = createHandler({
    registry: false,
    logger: entry => void entries.push(entry),
    middleware: [look],
    ...options,
  })
  const ask = async (path: string, forwardedFor?: string, ip: string | undefined = '10.0.0.1') => {
    const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
    return (await handler(new Request(`http://127.0.0.1${path}`, { headers }), platform({ ip }))).status
  }
  /** From a client whose address nobody tells. */
  const askUnknown = async (path: string, headers: HeadersInit = {}) =>
    (await handler(new Request(`http://127.0.0.1${path}`, { headers }))).status
  const warnings = () => entries.filter(({ event }) => event === 'limits.no_address')
  return { handler, ask, askUnknown, seen, entries, warnings }
}

describe('`trustProxy`', () => {
  it('says what `context.ip` and the log have as the address', async () => {
    const { ask, seen, entries } = make({ trustProxy: 1 })
    await ask('/api/nothing', '6.6.6.6, 1.1.1.1:4711')
    await ask('/api/nothing')
    expect(seen).toEqual(['1.1.1.1', '10.0.0.1'])
    expect(entries.map(({ ip }) => ip)).toEqual(['1.1.1.1', '10.0.0.1'])
  })

  it('believes nobody by default', async () => {
    const { ask, seen, entries } = make()
    await ask('/api/nothing', '1.1.1.1')
    expect([seen, entries[0]?.ip]).toEqual([['10.0.0.1'], '10.0.0.1'])
  })

  it('counts requests by that address', async () => {
    const { ask } = make({ trustProxy: 1, rateLimit: { max: 1 } })
    expect([await ask('/x', '1.1.1.1'), await ask('/x', '2.2.2.2')]).toEqual([404, 404])
    expect([await ask('/x', '9.9.9.9, 1.1.1.1'), await ask('/x', '8.8.8.8, 2.2.2.2')]).toEqual([429, 429])
  })

  it('counts sockets by that address, of IPv6 by its network', async () => {
    const { ask } = make({ trustProxy: 1, gateway: { limits: { maxSocketsPerIp: 2 } } })
    for (const address of ['1.1.1.1', '2.2.2.2', '2001:db8::1']) {
      expect([await ask(POLLING, address), await ask(POLLING, `9.9.9.9, ${address}`)]).toEqual([200, 200])
      expect(await ask(POLLING, `8.8.8.8, ${address}`), address).toBe(503)
    }
    expect(await ask(POLLING, '2001:db8::2')).toBe(503)
    expect(await ask(POLLING, '2001:db8:0:1::2')).toBe(200)
  })

  it('takes a function, and believes no client that reaches the service by itself', async () => {
    const trustProxy = (peer: string | undefined) => peer === '10.0.0.1'
    const { ask, seen } = make({ trustProxy })
    await ask('/x', '1.1.1.1', '::ffff:10.0.0.1')
    await ask('/x', '1.1.1.1', '7.7.7.7')
    expect(seen).toEqual(['1.1.1.1', '7.7.7.7'])
  })

  it('logs a function that throws, and answers all the same', async () => {
    const trustProxy = () => {
      throw new Error('broken')
    }
    const { ask, seen, entries } = make({ trustProxy })
    expect(await ask('/x', '1.1.1.1')).toBe(404)
    expect(seen).toEqual(['10.0.0.1'])
    expect(entries[0]).toMatchObject({ level: 'error', event: 'trust_proxy.failed', message: 'broken' })
  })

  it('opens the admin routes of this machine to nobody who is connected from elsewhere', async () => {
    const { handler } = make({ trustProxy: 'x-client', admin: true, production: false })
    const from = async (ip: string, client: string) => {
      const request = new Request('http://127.0.0.1/api/admin/toolkits', { headers: { 'x-client': client } })
      return (await handler(request, platform({ ip }))).status
    }
    expect(await from('127.0.0.1', '127.0.0.1')).toBe(200)
    expect(await from('8.8.8.8', '127.0.0.1')).toBe(403)
    expect(await from('127.0.0.1', '8.8.8.8')).toBe(403)
  })

  it('is known to an engine that stands alone', async () => {
    const engine = createEngine({ trustProxy: 1, maxSessionsPerIp: 1 })
    const ask = async (forwardedFor: string) => {
      const request = new Request('http://127.0.0.1/engine.io/?EIO=4&transport=polling', {
        headers: { 'x-forwarded-for': forwardedFor },
      })
      return (await engine.fetch(request, platform({ ip: '10.0.0.1' }))).status
    }
    expect([await ask('1.1.1.1'), await ask('2.2.2.2'), await ask('9.9.9.9, 1.1.1.1')]).toEqual([
      200, 200, 503,
    ])
    engine.close()
    expect(() => createEngine({ trustProxy: 0 })).toThrow(/`trustProxy` must be a number of proxies/)
  })
})

describe('limits by address where nobody tells it', () => {
  it('say so once, in words that name them', async () => {
    const { askUnknown, warnings } = make({ rateLimit: { max: 3 }, gateway: true })
    expect(warnings()).toEqual([])
    for (let request = 0; request < 3; request++) await askUnknown('/x')
    await askUnknown(POLLING)
    expect(warnings()).toEqual([
      {
        level: 'warn',
        event: 'limits.no_address',
        message: expect.stringMatching(/`rateLimit`.*`maxSocketsPerIp`|`trustProxy`/),
      },
    ])
  })

  it('have all requests share one window, and bound no socket but by all of them', async () => {
    const requests = make({ rateLimit: { max: 2 } })
    const statuses = [
      await requests.askUnknown('/x'),
      await requests.askUnknown('/x'),
      await requests.askUnknown('/x'),
    ]
    expect(statuses).toEqual([404, 404, 429])
    const sockets = make({ gateway: { limits: { maxSocketsPerIp: 1, maxSockets: 3 } } })
    for (const status of [200, 200, 200, 503]) expect(await sockets.askUnknown(POLLING)).toBe(status)
    expect(sockets.warnings()).toHaveLength(1)
  })

  it('say nothing where the address is known, where a key is asked, and where nothing is limited', async () => {
    const known = make({ trustProxy: 'x-real-ip', rateLimit: true, gateway: true })
    for (const path of ['/x', POLLING]) await known.askUnknown(path, { 'x-real-ip': '1.1.1.1' })
    const keyed = make({ rateLimit: { key: () => 'one' } })
    const free = make()
    for (const { askUnknown } of [keyed, free]) await askUnknown('/x')
    for (const { warnings } of [known, keyed, free]) expect(warnings()).toEqual([])
  })

  it('say so where the header that is believed is missing', async () => {
    const { askUnknown, warnings } = make({ trustProxy: 1, rateLimit: true })
    await askUnknown('/x', { 'x-forwarded-for': '1.1.1.1' })
    expect(warnings()).toEqual([])
    await askUnknown('/x')
    expect(warnings()).toHaveLength(1)
  })
})

describe('a host that is none', () => {
  it('is a 400 on every route, before middleware and the fallback are asked', async () => {
    const handler = createHandler({
      registry: false,
      logger: false,
      a2a: true,
      gateway: true,
      middleware: [request => Response.json(new URL(request.url))],
      fallback: request => Response.json(new URL(request.url)),
    })
    for (const path of ['/api/health', '/.well-known/agent-card.json', POLLING, '/nowhere']) {
      const request = new Request(`http://127.0.0.1${path}`, { headers: { host: 'x:99999' } })
      const answer = await handler(request)
      expect([answer.status, (await answer.json()).code], path).toEqual([400, 'invalid_header'])
    }
  })

  it('is refused by an engine that stands alone', async () => {
    const engine = createEngine()
    const url = 'http://x:99999/engine.io/?EIO=4&transport=polling'
    const request = Object.defineProperty(new Request('http://x/'), 'url', { value: url })
    expect((await engine.fetch(request)).status).toBe(400)
  })
})
