import { afterEach, describe, expect, it, vi } from 'vitest'
import { createHandler, type Middleware } from '../src/index.ts'
import { type RouteOptions, route } from '../src/runtimes/next.ts'

const CONTEXT = Symbol.for('@next/request-context')

/** What middleware is told of a request. */
async function told(options: RouteOptions = {}, headers: Record<string, string> = {}) {
  const seen = vi.fn<Middleware>((request, context) => {
    context.waitUntil(Promise.resolve())
    return Response.json({ url: request.url, ip: context.ip })
  })
  const { GET } = route(createHandler({ middleware: [seen], registry: false }), options)
  const answer = await GET(new Request('http://localhost:3000/api/health', { headers }))
  return answer.json()
}

describe('route', () => {
  afterEach(() => Reflect.deleteProperty(globalThis, CONTEXT))

  it('has a handler for each method that Next knows', () => {
    const names = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']
    expect(Object.keys(route(createHandler())).sort()).toEqual(names)
  })

  it.each([
    ['agents.example:8443', 'http://agents.example:8443/api/health'],
    ['Agents.example', 'http://agents.example/api/health'],
    ['localhost', 'http://localhost/api/health'],
    ['[::1]', 'http://[::1]/api/health'],
    ['agents.example:80', 'http://agents.example/api/health'],
  ])('gives the request the address that its client asked for at %s', async (host, url) => {
    expect(await told({}, { host })).toMatchObject({ url })
  })

  it('leaves the address as it is where `Host` is none', async () => {
    for (const host of ['', 'a b', '/evil', 'localhost:3000']) {
      expect(await told({}, { host }), host).toMatchObject({ url: 'http://localhost:3000/api/health' })
    }
  })

  it('passes a body on', async () => {
    const { POST } = route(async request => new Response(await request.text()))
    const init = { method: 'POST', body: 'all of it', headers: { host: 'agents.example' } }
    expect(await (await POST(new Request('http://localhost:3000/', init))).text()).toBe('all of it')
  })

  it('knows no address unless a header is trusted, of which the last one counts', async () => {
    const headers = { 'x-forwarded-for': '6.6.6.6, 1.2.3.4' }
    expect(await told({}, headers)).not.toHaveProperty('ip')
    expect(await told({ trustedHeader: 'x-forwarded-for' }, headers)).toMatchObject({ ip: '1.2.3.4' })
    expect(await told({ trustedHeader: 'x-real-ip' }, headers)).not.toHaveProperty('ip')
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
})
