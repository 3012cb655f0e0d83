/** What callers give that cannot work, and what services answer that they should not. */
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createClient, ServableClientError } from '../../src/client/index.ts'
import { untyped } from '../support.ts'
import { answering, clientOf, createService, failure } from './kit.ts'

const KEY = 'sk-a-long-secret'
const RUN = crypto.randomUUID()
const json = (value: unknown, init?: ResponseInit) => () => new Response(JSON.stringify(value), init)
const ours = { headers: { 'x-run-id': RUN } }
const refusing = (value: object) =>
  answering(json(value, { status: 400, headers: { 'content-type': 'application/problem+json' } }))

describe('what cannot be sent is `invalid_options`', () => {
  const circular: { self?: unknown } = {}
  circular.self = circular

  it.each<[string, unknown]>([
    ['circular', circular],
    ['a bigint', 1n],
  ])('an input that is %s', async (_, input) => {
    const fetch = answering(json({}, ours))
    const agent = clientOf(fetch).agent('a')
    for (const call of [agent.run(untyped(input)), agent.stream(untyped(input)).next()]) {
      expect(await failure(call)).toMatchObject({ code: 'invalid_options', cause: expect.any(TypeError) })
    }
    expect(fetch.calls).toEqual([])
  })

  it.each(['.', '..', '', '\ud800'])('the name or id %j', async name => {
    const fetch = answering(json({}, ours))
    const { agent, team, runs, tools } = clientOf(fetch)
    const calls = [
      () => agent(name).run('x'),
      () => agent(name).stream('x').next(),
      () => agent(name).corrections.list(),
      () => team(name).run('x'),
      () => runs.get(name),
      () => runs.result(name),
      () => runs.cancel(name),
      () => runs.stream(name).next(),
      () => tools.get(name),
    ]
    for (const call of calls) {
      const error = await failure(call())
      expect(error).toBeInstanceOf(ServableClientError)
      expect(error.code).toBe('invalid_options')
    }
    expect(fetch.calls).toEqual([])
  })

  it('headers that throw', async () => {
    const cause = new Error('no token')
    const headers = () => Promise.reject(cause)
    const error = await failure(clientOf(answering(json({})), { headers }).agents())
    expect(error).toBeInstanceOf(ServableClientError)
    expect(error).toMatchObject({ code: 'invalid_options', cause })
  })

  it('an `idempotencyKey` that is no header', async () => {
    const run = clientOf(answering(json({}, ours)))
      .agent('a')
      .run('x', { idempotencyKey: 'a\nb' })
    expect(await failure(run)).toMatchObject({ code: 'invalid_options' })
  })

  it('a `baseUrl` of another protocol', () => {
    expect(() => createClient({ baseUrl: 'ftp://service.test/api' })).toThrow(ServableClientError)
  })
})

describe('headers', () => {
  it('are taken as `fetch` takes them, without what is undefined', async () => {
    const fetch = answering(json([]))
    const client = clientOf(fetch, { headers: new Headers({ 'x-a': '1', 'x-b': '1' }) })
    await client.agents({ headers: [['x-b', '2']] })
    await client.agents({ headers: { 'x-a': undefined, authorization: undefined } })
    const sent = fetch.calls.map(({ headers }) => Object.fromEntries(headers))
    expect(sent).toEqual([
      { 'x-a': '1', 'x-b': '2' },
      { 'x-a': '1', 'x-b': '1' },
    ])
  })
})

describe('an answer that the service would not give', () => {
  it('holds no key, in its issues neither', async () => {
    const issues = [{ path: KEY, message: `not ${KEY}` }]
    const fetch = refusing({ code: 'invalid_body', detail: `It is ${KEY}`, issues })
    const error = await failure(clientOf(fetch, { apiKey: KEY }).agents())
    expect(error).toMatchObject({ code: 'invalid_body', issues: [{ message: 'not [redacted]' }] })
    expect(inspect(error, { depth: 9 })).not.toContain(KEY)
  })

  it('has a code that is text, and a message', async () => {
    expect((await failure(clientOf(refusing({ code: 5 })).agents())).code).toBe('invalid_response')
    expect(await failure(clientOf(refusing({ code: 'odd' })).agents())).toMatchObject({
      code: 'odd',
      message: 'odd',
    })
  })

  it('is asked for once where it is a page', async () => {
    const html = { 'content-type': 'text/html; charset=utf-8' }
    const page = answering(() => new Response('<html>', { headers: html }))
    const client = clientOf(page)
    expect((await failure(client.agents())).message).toContain('is `baseUrl` right?')
    expect((await failure(client.agent('a').run('x'))).status).toBe(200)
    expect((await failure(client.agent('a').stream('x').next())).code).toBe('invalid_response')
    expect(page.calls).toHaveLength(3)
    const gateway = answering(() => new Response('<html>', { status: 502, headers: html }), json([]))
    expect(await clientOf(gateway).agents()).toEqual([])
  })

  it.each([null, undefined])('is a record whose error is %s', async error => {
    const record = answering(json({ status: 'failed', error }))
    expect(await failure(clientOf(record).runs.result(RUN))).toMatchObject({
      code: 'invalid_response',
      runId: RUN,
    })
  })

  it('is garbage among the metrics', async () => {
    const headers = { 'content-type': 'text/event-stream' }
    const events = clientOf(answering(() => new Response('data: {\n\n', { headers }))).metrics.stream()
    expect(await failure(events.next())).toMatchObject({ code: 'invalid_response' })
  })
})

describe('the options of a call', () => {
  it('never try for ever', async () => {
    const busy = answering(() => new Response('', { status: 503 }))
    expect((await failure(clientOf(busy, { maxTries: Number.NaN }).agents())).status).toBe(503)
    expect(busy.calls).toHaveLength(1)
  })

  it.each([Number.POSITIVE_INFINITY, 2 ** 31, Number.NaN])('have no time-out of %d', async timeoutMs => {
    const { fetch } = createService()
    expect((await clientOf(fetch).agent('echo').run('x', { timeoutMs })).text).toBe('x')
  })

  it('have one time-out for all requests of a result', async () => {
    const slow = async ({ url }: Request) => {
      await new Promise(resolve => setTimeout(resolve, 70))
      const headers = { 'content-type': 'text/event-stream', 'x-run-id': RUN }
      const event = 'id: 1\ndata: {"type":"finish","finishReason":"stop"}\n\n'
      if (url.endsWith('/stream')) return new Response(event, { headers })
      return Response.json({ status: 'running' })
    }
    // With a time-out for each request it would ask again and again.
    expect((await failure(clientOf(slow).runs.result(RUN, { timeoutMs: 100 }))).code).toBe('timeout')
    const stream = clientOf(slow).agent('a').stream('x', { timeoutMs: 100 })
    expect((await failure(stream.result())).code).toBe('timeout')
  })
})
