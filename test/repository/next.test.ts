import { afterEach, describe, expect, it, vi } from 'vitest'
import { createHandler, type HandlerOptions, type LogEntry, type Middleware } from '../../src/index.ts'
import { nextHandlers, type RouteOptions } from '../../src/runtimes/next.ts'

const CONTEXT = Symbol.for('@next/request-context')

/** What middleware is told of a request. */
async function told(options: RouteOptions = {}, headers: Record<string, string> = {}) {
  const seen = vi.fn<Middleware>((request, context) => {
    context.waitUntil(Promise.resolve())
    return Response.json({ url: request.url, ip: context.ip })
  })
  const { GET } = nextHandlers(createHandler({ middleware: [seen], registry: false }), options)
  const answer = await GET(new Request('http://localhost:3000/api/health', { headers }))
  return answer.json()
}

describe('nextHandlers', () => {
  afterEach(() => Reflect.deleteProperty(globalThis, CONTEXT))

  it('has a handler for each method that Next knows', () => {
    const names = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']
    expect(Object.keys(nextHandlers(createHandler())).sort()).toEqual(names)
  })

  it.each([
    ['agents.example:8443', 'http://agents.example:8443/api/health'],
    ['Agents.example', 'http://agents.example/api/health'],
    ['localhost', 'http://localhost/api/health'],
    ['[::1]', 'http://[::1]/api/health'],
    ['agents.example:80', 'http://agents.example/api/health'],
    ['agents.example:', 'http://agents.example/api/health'],
  ])('gives the request the address that its client asked for at %s', async (host, url) => {
    expect(await told({}, { host })).toMatchObject({ url })
  })

  it('leaves the address as it is where `Host` is none', async () => {
    for (const host of ['', 'a b', '/evil', 'x:99999', '[::1', 'a@b', 'x?', 'localhost:3000']) {
      expect(await told({}, { host }), host).toMatchObject({ url: 'http://localhost:3000/api/health' })
    }
  })

  it('passes a body on', async () => {
    const { POST } = nextHandlers(async request => new Response(await request.text()))
    const init = { method: 'POST', body: 'all of it', headers: { host: 'agents.example' } }
    expect(await (await POST(new Request('http://localhost:3000/', init))).text()).toBe('all of it')
  })

  it('gives the handler no address of its own', async () => {
    expect(await told({}, { 'x-forwarded-for': '1.2.3.4' })).not.toHaveProperty('ip')
  })

  it('leaves who is believed to the handler, so that two clients behind one proxy have two windows', async () => {
    const { GET } = nextHandlers(createHandler({ registry: false, trustProxy: 1, rateLimit: { max: 1 } }))
    const from = async (field: string) => {
      const headers = { 'x-forwarded-for': field }
      return (await GET(new Request('http://localhost:3000/api/x', { headers }))).status
    }
    expect([await from('1.1.1.1'), await from('2.2.2.2')]).toEqual([404, 404])
    expect([await from('9.9.9.9, 1.1.1.1'), await from('2.2.2.2')]).toEqual([429, 429])
  })

  it('says at the start that limits know no address, unless somebody is believed', () => {
    const warned = (options: HandlerOptions) => {
      const entries: LogEntry[] = []
      nextHandlers(createHandler({ registry: false, logger: entry => void entries.push(entry), ...options }))
      return entries.map(({ level, event }) => `${level} ${event}`)
    }
    expect(warned({ rateLimit: true })).toEqual(['warn limits.no_address'])
    expect(warned({ gateway: true })).toEqual(['warn limits.no_address'])
    expect(warned({ rateLimit: true, trustProxy: 1 })).toEqual([])
    expect(warned({ rateLimit: { key: () => 'a' } })).toEqual([])
    expect(warned({})).toEqual([])
  })

  it('waits by what it was given, else by what the host offers', async () => {
    const [given, offered] = [vi.fn(), vi.fn()]
    Object.assign(globalThis, { [CONTEXT]: { get: () => ({ waitUntil: offered }) } })
    await told()
    expect(offered).toHaveBeenCalledOnce()
    await told({ waitUntil: given })
    expect(given).toHaveBeenCalledOnce()
    expect(offered).toHaveBeenCalledOnce()
  })

  it.each([
    [{ trustedHeader: 'x-real-ip' }, '`trustedHeader` is not an option: use `waitUntil`'],
    [{ waitUntil: Promise.resolve() }, '`waitUntil` must be a function'],
  ])('says what is wrong with its options, before any request: %j', (options, says) => {
    expect(() => nextHandlers(createHandler({ registry: false }), options as never)).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining(says) }),
    )
  })
})
