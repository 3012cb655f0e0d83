import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { freshFor } from '../../../src/adapters/a2a-client/card.ts'
import { chooseInterface } from '../../../src/adapters/a2a-client/choose.ts'
import { createHandler } from '../../../src/index.ts'
import { BASE, eventsOf, noting, remote, service } from './service.ts'

/** A service that says this of how long its card is fresh. */
function caching(headers: Record<string, string>) {
  const answers = service(() => 'hi')
  return noting(async request => {
    const response = await answers(request)
    if (request.method === 'POST') return response
    if (headers.etag !== undefined && request.headers.get('if-none-match') === headers.etag)
      return new Response(null, { status: 304, headers })
    return new Response(response.body, { headers: { 'content-type': 'application/json', ...headers } })
  })
}

const cardsIn = (methods: readonly string[]) => methods.filter(method => method.startsWith('/')).length

describe('the card of a remote agent', () => {
  it.each([
    [{ 'cache-control': 'max-age=60' }, 1],
    [{ 'cache-control': 'public, s-maxage=60, max-age=0' }, 1],
    [{}, 1],
    [{ 'cache-control': 'max-age=60', age: '60' }, 2],
    [{ 'cache-control': 'no-cache' }, 2],
    [{ 'cache-control': 'private, max-age=60' }, 2],
    [{ 'cache-control': 'no-store' }, 2],
  ])('is read as often as the service says: %o', async (headers, times) => {
    const { fetch, methods } = caching(headers)
    const agent = remote({ fetch })
    await eventsOf(agent)
    await eventsOf(agent)
    expect(cardsIn(methods())).toBe(times)
  })

  it('is read again in time, though the clock is set back by a day', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { fetch, methods } = caching({ 'cache-control': 'max-age=60' })
    const agent = remote({ fetch })
    await eventsOf(agent)
    vi.setSystemTime(Date.now() - 86_400_000)
    vi.advanceTimersByTime(61_000)
    await eventsOf(agent)
    expect(cardsIn(methods())).toBe(2)
  })

  it('is asked for again with its tag', async () => {
    const { fetch, got } = caching({ 'cache-control': 'no-cache', etag: '"1"' })
    const agent = remote({ fetch })
    for (let times = 0; times < 3; times++) expect(await eventsOf(agent)).toHaveLength(2)
    const tags = got.flatMap(({ method, headers }) =>
      method.startsWith('/') ? [headers.get('if-none-match')] : [],
    )
    expect(tags).toEqual([null, '"1"', '"1"'])
  })

  it('is found at the older path, below a base, and at an address of its own', async () => {
    const answers = service(() => 'hi')
    const at = (path: string) =>
      noting(async request => {
        const { pathname } = new URL(request.url)
        if (request.method === 'GET' && pathname !== path) return new Response(null, { status: 404 })
        return answers(request.method === 'GET' ? new Request(`${BASE}/.well-known/agent.json`) : request)
      })
    for (const [url, path] of [
      [BASE, '/.well-known/agent.json'],
      [`${BASE}/a/b/`, '/a/b/.well-known/agent-card.json'],
      [`${BASE}/cards/x.json`, '/cards/x.json'],
    ] as const) {
      const { fetch, methods } = at(path)
      await eventsOf(remote({ fetch, url }))
      expect(methods()).toContain(path)
    }
    const missing = remote({ fetch: at('/nowhere').fetch })
    await expect(eventsOf(missing)).rejects.toMatchObject({
      code: 'provider_failed',
      message: expect.stringContaining(`${BASE}/.well-known/agent.json`),
    })
  })

  it('is used as far as it is verified', async () => {
    const { fetch } = noting(service(() => 'hi'))
    const with_ = (verify: () => unknown) => eventsOf(remote({ fetch, verify: verify as never }))
    expect(await with_(() => true)).toHaveLength(2)
    for (const refused of [false, undefined, 'yes', []])
      await expect(with_(async () => refused)).rejects.toMatchObject({ code: 'provider_failed' })
    const throws = () => {
      throw new Error('unknown key')
    }
    await expect(with_(throws)).rejects.toMatchObject({ message: expect.stringContaining('unknown key') })
    await expect(with_(() => ({ name: 'x' }))).rejects.toMatchObject({ code: 'invalid_agent_response' })
  })

  it('of servable itself is read in each of its forms', async () => {
    for (const cardForm of ['1.0', 'hybrid', undefined] as const) {
      const agent = { run: async () => ({ text: 'hi' }) as never }
      const handler = createHandler({
        ...{ registry: false, logger: false, agents: { echo: agent } },
        a2a: cardForm === undefined ? {} : { cardForm: cardForm as never },
      })
      expect(await eventsOf(remote({ fetch: noting(handler).fetch }))).toContainEqual({
        type: 'text',
        text: 'hi',
      })
    }
  })
})

describe('freshFor', () => {
  it('is at most a day, and never less than nothing', () => {
    const of = (control: string) => freshFor(new Headers({ 'cache-control': control }))
    expect(of('max-age=99999999')).toBe(86_400_000)
    expect(of('max-age="30"')).toBe(30_000)
    expect(freshFor(new Headers({ 'cache-control': 'max-age=1', age: '9' }))).toBe(0)
    expect(of('no-store, max-age=9')).toBeUndefined()
  })
})

describe('chooseInterface', () => {
  const base = new URL('https://a.example/.well-known/agent-card.json')
  const choose = (card: object, origins = ['https://a.example']) =>
    chooseInterface(card as never, base, origins)
  const v1 = (protocolBinding: string, protocolVersion = '1.0', url = 'https://a.example/x') => ({
    ...{ url, protocolBinding, protocolVersion },
  })

  it('prefers 1.0, and then what comes first', () => {
    const interfaces = [v1('JSONRPC', '0.3'), v1('GRPC'), v1('HTTP+JSON', '1.0.1'), v1('JSONRPC')]
    expect(choose({ supportedInterfaces: interfaces })).toMatchObject({
      binding: 'HTTP+JSON',
      version: '1.0',
    })
    expect(choose({ url: '/rpc', supportedInterfaces: [v1('GRPC')] })).toEqual({
      ...{ url: 'https://a.example/rpc', binding: 'JSONRPC', version: '0.3' },
      ...{ tenant: undefined, hasStreams: false },
    })
  })

  it('takes another binding of 0.3 where the preferred one is not known', () => {
    const card = {
      ...{ url: 'https://a.example/grpc', preferredTransport: 'GRPC' },
      additionalInterfaces: [{ url: 'https://a.example/rest', transport: 'http+json' }],
    }
    expect(choose(card)).toMatchObject({
      url: 'https://a.example/rest',
      binding: 'HTTP+JSON',
      version: '0.3',
    })
  })

  it('takes an origin that is allowed before one that is not', () => {
    const interfaces = [v1('JSONRPC', '1.0', 'https://b.example/'), v1('JSONRPC', '0.3')]
    expect(choose({ supportedInterfaces: interfaces })).toMatchObject({ url: 'https://a.example/x' })
    expect(choose({ supportedInterfaces: interfaces.slice(0, 1) })).toMatchObject({
      url: 'https://b.example/',
    })
  })
})
