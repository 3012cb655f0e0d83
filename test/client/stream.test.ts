import { describe, expect, it, vi } from 'vitest'
import { createClient, ServableClientError } from '../../src/client/index.ts'
import { eventually } from '../eventually.ts'
import { drain, listenersOf, never, textIn, untimed } from '../support.ts'
import { type Cut, clientOf, createService, cutting } from './kit.ts'

const RUN = crypto.randomUUID()

const codeOf = (error: unknown) => (error instanceof ServableClientError ? error.code : error)
const failure = (promise: Promise<unknown>) => promise.then(() => 'no failure', codeOf)

describe('stream', () => {
  it('gives the events of a run, its id and its result', async () => {
    const stream = clientOf(createService().fetch).agent('echo').stream('one')
    expect([stream.runId, stream.lastEventId]).toEqual([undefined, 0])
    const events = await drain(stream)
    expect(events.map(({ at }) => typeof at)).toEqual(['number', 'number'])
    expect(events.map(untimed)).toEqual([
      { type: 'text', text: 'one' },
      { type: 'finish', finishReason: 'stop' },
    ])
    expect(stream.lastEventId).toBe(2)
    expect(await stream.result()).toMatchObject({ text: 'one', runId: stream.runId })
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })

  it('streams workflows', async () => {
    const events = await drain(clientOf(createService().fetch).workflow('count').stream('steps'))
    expect(events.at(-1)).toMatchObject({ type: 'finish' })
  })

  it('gives the result without being read', async () => {
    const { text } = await clientOf(createService().fetch).agent('echo').stream('unread').result()
    expect(text).toBe('unread')
  })

  it('sends nothing until it is read, and nothing when it is left before', async () => {
    const service = createService()
    const { signal } = new AbortController()
    const stream = clientOf(service.fetch).agent('echo').stream('never', { signal })
    await stream.return()
    expect(await stream.next()).toEqual({ done: true, value: undefined })
    expect(await failure(stream.result())).toBe('stream_broken')
    expect(service.requests).toEqual([])
    expect(listenersOf(signal)).toBe(0)
  })

  it('passes on when the arguments of a call are complete, and each answer of a model', async () => {
    const events = await drain(clientOf(createService().fetch).agent('calls').stream('x'))
    const ready = events.find(event => event.type === 'tool_call_ready')
    const answer = events.find(event => event.type === 'model_call')
    expect(ready?.args).toEqual({ a: 1 })
    expect(answer).toMatchObject({
      model: 'a/b',
      finishReason: 'stop',
      durationMs: 5,
      at: expect.any(Number),
    })
  })

  it('tells a failed run by its last event, and as the error of its result', async () => {
    const stream = clientOf(createService().fetch).agent('fails').stream('x')
    expect((await drain(stream)).map(untimed)).toEqual([
      { type: 'error', code: 'agent_failed', error: expect.any(String) },
    ])
    const error = await stream.result().catch(thrown => thrown)
    expect(error).toMatchObject({ code: 'agent_failed', runId: stream.runId })
  })

  it('cancels the run when the loop is left', async () => {
    const service = createService()
    const client = clientOf(service.fetch)
    const stream = client.agent('gated').stream('x')
    for await (const event of stream) {
      expect(untimed(event)).toEqual({ type: 'text', text: 'before ' })
      break
    }
    expect((await client.runs.get(stream.runId!)).status).toBe('cancelled')
    expect(service.notes.stopped).toBe(1)
  })

  it('cancels the run when it is left while a read waits, which is done then', async () => {
    const client = clientOf(createService().fetch)
    const stream = client.agent('gated').stream('x')
    await stream.next()
    const waiting = stream.next()
    await stream.return()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect((await stream.result()).finishReason).toBe('cancelled')
  })

  it('cancels the run when the signal fires, and rejects with its reason', async () => {
    const service = createService()
    const client = clientOf(service.fetch)
    const leaving = new AbortController()
    const stream = client.agent('gated').stream('x', { signal: leaving.signal })
    await stream.next()
    const waiting = failure(stream.next())
    leaving.abort('enough')
    expect(await waiting).toBe('enough')
    expect((await client.runs.get(stream.runId!)).status).toBe('cancelled')
    expect(service.notes.stopped).toBe(1)
    expect(listenersOf(leaving.signal)).toBe(0)
  })

  it('cancels the run when the signal fires between two reads', async () => {
    const service = createService()
    const leaving = new AbortController()
    const stream = clientOf(service.fetch).agent('gated').stream('x', { signal: leaving.signal })
    await stream.next()
    leaving.abort('enough')
    await eventually(() => expect(service.notes.stopped).toBe(1))
    expect(await failure(stream.next())).toBe('enough')
  })

  it('cancels the run while it reconnects', async () => {
    const service = createService()
    const leaving = new AbortController()
    const isResuming = (request: Request) => request.method === 'GET'
    const network = cutting(service.fetch, request => {
      if (isResuming(request)) leaving.abort('enough')
      return isResuming(request) ? 'before' : request.url.endsWith('cancel') ? 'never' : 'event'
    })
    const stream = clientOf(network).agent('gated').stream('x', { signal: leaving.signal })
    expect(await failure(drain(stream))).toBe('enough')
    expect((await clientOf(service.fetch).runs.get(stream.runId!)).status).toBe('cancelled')
  })

  it.each(['stream', 'run'] as const)('cancels the run whose first answer was lost: %s', async verb => {
    const service = createService()
    const leaving = new AbortController()
    let isFirst = true
    const network = (request: Request) => {
      if (!isFirst) return service.fetch(request)
      isFirst = false
      // The answer never comes, though the run is at work.
      return service.fetch(request).then(async response => {
        void response.body?.cancel()
        leaving.abort('enough')
        return never()
      })
    }
    const agent = clientOf(network).agent(verb === 'run' ? 'counts' : 'gated')
    const options = { signal: leaving.signal }
    const call = verb === 'run' ? agent.run('1', options) : drain(agent.stream('x', options))
    expect(await failure(call as Promise<unknown>)).toBe('enough')
    const what = verb === 'run' ? 'counts' : 'gated'
    expect(service.requests[1]).toBe(`POST /agents/${what}/run`)
    expect(service.requests[2]).toMatch(/^POST \/runs\/[\da-f-]+\/cancel$/)
    expect(service.notes.began).toBe(1)
    if (verb === 'stream') expect(service.notes.stopped).toBe(1)
  })

  it('ends after `timeoutMs`, and cancels the run', async () => {
    const service = createService()
    const stream = clientOf(service.fetch).agent('gated').stream('x', { timeoutMs: 20 })
    expect(await failure(drain(stream))).toBe('timeout')
    expect(service.notes.stopped).toBe(service.notes.began)
  })

  it('gives up after so many tries without an event, and the run goes on', async () => {
    const service = createService()
    const network = cutting(service.fetch, ({ method }) => (method === 'GET' ? 'before' : 'event'))
    const stream = clientOf(network, { maxTries: 4 }).agent('gated').stream('x')
    const error = await drain(stream).catch(thrown => thrown)
    expect(error).toMatchObject({ code: 'stream_broken', runId: stream.runId })
    expect(error.cause.code).toBe('network_error')
    expect(service.requests).toHaveLength(1)
    const client = clientOf(service.fetch)
    service.open()
    const rest = await drain(client.runs.stream(stream.runId!, { after: stream.lastEventId }))
    expect(textIn(rest)).toBe('after')
  })

  it.each([
    ['no event stream', new Response('{}')],
    ['no run', new Response('data: x\n\n', { headers: { 'content-type': 'text/event-stream' } })],
    ['no numbers', eventStream('data: {"type":"text","text":"x"}\n\n')],
    ['a gap', eventStream('id: 2\ndata: {"type":"text","text":"x"}\n\n')],
    ['no JSON', eventStream('id: 1\ndata: {"type"\n\n')],
    ['no type', eventStream('id: 1\ndata: {"text":"x"}\n\n')],
    ['too much', eventStream(`id: 1\ndata: ${'x'.repeat(2000)}`)],
  ])('refuses what is no stream of a run: %s', async (_, response) => {
    const fetch = vi.fn(() => Promise.resolve(response))
    const stream = clientOf(fetch, { maxLength: 1000, maxTries: 1 }).agent('a').stream('x')
    expect(await failure(drain(stream))).toBe('invalid_response')
    expect(fetch).toHaveBeenCalledTimes(1)
  })

  it('takes silence for a lost connection, and a stream that says so for a good one', async () => {
    const service = createService()
    let streams = 0
    const network = async (request: Request) => {
      if (request.method !== 'GET' || streams > 9) return service.fetch(request)
      streams++
      return eventStream(': keep-alive\n\n', true)
    }
    const cutFirst = cutting(
      network,
      (request): Cut => (request.url.endsWith('/stream') && request.method === 'POST' ? 'event' : 'never'),
    )
    const stream = clientOf(cutFirst, { maxTries: 2, silenceMs: 20 }).agent('gated').stream('x')
    await stream.next()
    service.open()
    expect(textIn(await drain(stream))).toBe('after')
    expect(streams).toBe(10)
  })
})

describe('stream, of a plain run', () => {
  it('is one request, without a key', async () => {
    const service = createService({ runs: { store: 'none' } })
    const events = await drain(clientOf(service.fetch).agent('echo').stream('x', { follow: false }))
    expect(events).toHaveLength(2)
    expect(service.requests).toEqual(['POST /agents/echo/stream'])
  })

  it('breaks with its connection', async () => {
    const service = createService()
    const network = cutting(service.fetch, () => 'event')
    const stream = clientOf(network).agent('gated').stream('x', { follow: false })
    expect(await failure(drain(stream))).toBe('stream_broken')
    expect(service.requests).toHaveLength(1)
  })

  it('ends the run when it is left', async () => {
    const service = createService()
    for await (const _ of clientOf(service.fetch).agent('gated').stream('x', { follow: false })) break
    await eventually(() => expect(service.notes.stopped).toBe(1))
    expect(service.requests).toHaveLength(1)
  })
})

describe('createClient', () => {
  it.each([
    '',
    '/api',
    'service',
    'http://user:secret@service.test',
    'http://service.test?key=secret',
    'file:///x',
  ])('refuses `%s` as `baseUrl`, and does not repeat it', baseUrl => {
    expect(() => createClient({ baseUrl })).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.not.stringContaining('secret') }),
    )
  })
})

/** The answer of a service that says this; `stays` leaves it open. */
function eventStream(text: string, stays = false): Response {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text))
      if (!stays) controller.close()
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream', 'x-run-id': RUN } })
}
