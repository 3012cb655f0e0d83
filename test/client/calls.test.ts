import { describe, expect, it } from 'vitest'
import type { ClientOptions } from '../../src/client/index.ts'
import { eventually } from '../eventually.ts'
import { listenersOf } from '../support.ts'
import { answering, clientOf, createService, cutting, failure } from './kit.ts'

const RUN = crypto.randomUUID()

const KEY = 'sk-a-long-secret'

const plain = (status: number, headers = {}) => new Response('<html>', { status, headers })

function problem(status: number, code: string, headers = {}): Response {
  const body = JSON.stringify({ code, detail: `It is ${code}: ${KEY}`, status })
  return new Response(body, {
    status,
    headers: { 'content-type': 'application/problem+json', 'x-request-id': 'req', ...headers },
  })
}

const ok = () => new Response(JSON.stringify({ text: 'done' }), { headers: { 'x-run-id': RUN } })

describe('a conversation that the caller tells', () => {
  const told = { history: [{ role: 'user', content: 'before' }], clientTools: [{ name: 'pick' }] } as const

  it.each([{}, { follow: false }] as const)('reaches the agent: %j', async how => {
    const heard = clientOf(createService().fetch).agent('heard')
    expect((await heard.run('x', { ...told, ...how })).structured).toEqual(told)
    const session = { sessionId: 's', memory: 'client' } as const
    const { structured } = await heard.run('x', { ...told, ...session, ...how })
    expect(structured).toEqual({ ...told, sessionId: 's' })
    const refused = await failure(heard.run('x', { ...told, sessionId: 's', ...how }))
    expect([refused.code, refused.status]).toEqual(['conflicting_memory', 400])
  })
})

describe('run', () => {
  it('gives the result of one request', async () => {
    const service = createService()
    expect(await clientOf(service.fetch).agent('echo').run('one')).toMatchObject({ text: 'one' })
    expect(service.requests).toEqual(['POST /agents/echo/run'])
  })

  it('finds the same run by the same key', async () => {
    const service = createService()
    const run = () => clientOf(service.fetch).agent('counts').run('1', { idempotencyKey: 'mine' })
    expect((await run()).runId).toBe((await run()).runId)
    expect(service.notes.began).toBe(1)
  })

  it('cancels the run when the signal fires, and lets go of the signal', async () => {
    const service = createService()
    const leaving = new AbortController()
    const running = failure(clientOf(service.fetch).agent('gated').run('x', { signal: leaving.signal }))
    await eventually(() => expect(service.notes.began).toBe(1))
    leaving.abort('enough')
    expect(await running).toBe('enough')
    expect(service.notes).toEqual({ began: 1, stopped: 1 })
    expect(listenersOf(leaving.signal)).toBe(0)
  })

  it('sends nothing where the signal has fired', async () => {
    const service = createService()
    const call = clientOf(service.fetch)
      .agent('echo')
      .run('x', { signal: AbortSignal.abort('enough') })
    expect(await failure(call)).toBe('enough')
    expect(service.requests).toEqual([])
  })

  it('waits for a run whose answer was lost', async () => {
    const service = createService()
    let isFirst = true
    const network = cutting(service.fetch, request => {
      if (!isFirst || !request.url.endsWith('/run')) return 'never'
      isFirst = false
      return 'before'
    })
    const running = clientOf(network).agent('gated').run('x')
    await eventually(() => expect(service.requests.at(-1)).toMatch(/^GET .*stream$/))
    service.open()
    expect((await running).text).toBe('before after')
    expect(service.notes.began).toBe(1)
  })

  it.each([
    ['agent_failed', 500],
    ['provider_failed', 502],
    ['run_timeout', 504],
    ['idempotency_mismatch', 422],
  ])('takes %s (%i) for an answer', async (code, status) => {
    const fetch = answering(() => problem(status, code, { 'x-run-id': RUN }))
    const error = await failure(clientOf(fetch, { apiKey: KEY }).agent('a').run('x'))
    expect(error).toMatchObject({
      code,
      status,
      requestId: 'req',
      runId: RUN,
      issues: [],
      name: 'ServableClientError',
    })
    expect(fetch.calls).toHaveLength(1)
  })

  it.each([
    ['too much for now', () => problem(429, 'too_many_runs', { 'retry-after': '0' })],
    ['a gateway', () => plain(503)],
    ['an answer that was cut in its head', () => new Response()],
    ['a date to wait for', () => plain(502, { 'retry-after': new Date(0).toUTCString() })],
    ['a network', () => Response.error()],
  ])('tries again after %s', async (what, make) => {
    const lost = () => Promise.reject(new TypeError('lost'))
    const fetch = answering(make, make, ok)
    const send = (request: Request) =>
      fetch(request).then(answer => (what === 'a network' && answer.status === 0 ? lost() : answer))
    expect((await clientOf(send).agent('a').run('x')).text).toBe('done')
    const keys = fetch.calls.map(request => request.headers.get('idempotency-key'))
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(1)
    expect(keys[0]).toMatch(/^\d{1,3}(-\d{1,3}){15}$/)
  })

  it('gives up after `maxTries`, and where it is to wait for too long', async () => {
    const busy = answering(() => problem(429, 'rate_limited', { 'retry-after': '0' }))
    expect(await failure(clientOf(busy, { maxTries: 3 }).agent('a').run('x'))).toMatchObject({
      retryAfter: 0,
    })
    expect(busy.calls).toHaveLength(3)
    const long = answering(() => problem(429, 'rate_limited', { 'retry-after': '3600' }))
    expect(await failure(clientOf(long).agent('a').run('x'))).toMatchObject({ retryAfter: 3_600_000 })
    expect(long.calls).toHaveLength(1)
  })

  it('says what to do where the service keeps no runs', async () => {
    const service = createService({ runs: { store: 'none' } })
    const agent = clientOf(service.fetch).agent('echo')
    const error = await failure(agent.run('x'))
    expect(error.code).toBe('runs_not_stored')
    expect(error.message).toContain('{ follow: false }')
    expect((await agent.run('x', { follow: false })).text).toBe('x')
  })

  it('tries a plain run once', async () => {
    const fetch = answering(() => problem(429, 'rate_limited'))
    const error = await failure(clientOf(fetch).agent('a').run('x', { follow: false }))
    expect(error.code).toBe('rate_limited')
    expect(fetch.calls).toHaveLength(1)
    expect(fetch.calls[0]!.headers.get('idempotency-key')).toBeNull()
    expect(await fetch.calls[0]!.json()).toEqual({ input: 'x' })
  })
})

describe('what answers is not the service', () => {
  it.each([
    ['a page', () => plain(200)],
    ['another 404', () => plain(404)],
    ['a redirect', () => plain(302, { location: 'http://other.test/' })],
    ['text', () => new Response('7')],
    ['too much', () => new Response(JSON.stringify('x'.repeat(2000)))],
  ])('%s is `invalid_response`', async (_, make) => {
    const fetch = answering(make)
    const client = clientOf(fetch, { maxLength: 1000, maxTries: 1 })
    expect((await failure(client.agents())).code).toBe('invalid_response')
    expect((await failure(client.agent('a').run('x'))).code).toBe('invalid_response')
    expect(fetch.calls).toHaveLength(2)
  })

  it('a wrong problem is one too', async () => {
    const headers = { 'content-type': 'application/problem+json' }
    const fetch = answering(() => new Response('{', { status: 400, headers }))
    expect(await failure(clientOf(fetch).registry())).toMatchObject({ code: 'invalid_response', status: 400 })
  })
})

describe('headers', () => {
  const sent = async (options: Partial<ClientOptions>, call = {}) => {
    const fetch = answering(ok)
    await clientOf(fetch, options).agent('a').run('x', call)
    return Object.fromEntries(fetch.calls[0]!.headers)
  }

  it('carry the keys of the client, and of the call', async () => {
    const options = {
      apiKey: 'one',
      keys: { 'x-a-api-key': 'a', 'x-b-api-key': 'b' },
      headers: { 'x-own': '1' },
    }
    expect(await sent(options)).toMatchObject({ 'x-api-key': 'one', 'x-a-api-key': 'a', 'x-own': '1' })
    const call = { apiKey: 'two', keys: { 'x-a-api-key': 'c' }, headers: { 'x-own': '2' } }
    expect(await sent(options, call)).toMatchObject({
      'x-api-key': 'two',
      'x-a-api-key': 'c',
      'x-b-api-key': 'b',
      'x-own': '2',
    })
  })

  it('are asked for at each request, but for one that is sent again', async () => {
    let count = 0
    const fetch = answering(() => plain(503), ok)
    const client = clientOf(fetch, { headers: async () => ({ authorization: `Bearer ${++count}` }) })
    await client.agent('a').run('x')
    await client.health()
    const tokens = fetch.calls.map(request => request.headers.get('authorization'))
    expect(tokens).toEqual(['Bearer 1', 'Bearer 1', 'Bearer 2'])
  })

  it('never reach a message', async () => {
    const fetch = answering(() => problem(400, 'invalid_body'))
    for (const options of [
      { apiKey: KEY },
      { keys: { 'x-a-api-key': KEY } },
      { headers: { authorization: `Bearer ${KEY}` } },
    ]) {
      const { message } = await failure(clientOf(fetch, options).agents())
      expect(message).toBe('It is invalid_body: [redacted]')
    }
    const error = await failure(clientOf(fetch, { apiKey: `${KEY}\n\0` }).agents())
    expect(error).toMatchObject({ code: 'invalid_options', message: '`x-api-key` cannot be sent' })
    expect([error.message, error.cause]).toEqual([expect.not.stringContaining(KEY), undefined])
  })
})
