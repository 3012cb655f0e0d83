import { createParser } from 'eventsource-parser'
import { describe, expect, it, vi } from 'vitest'
import { createHandler, type HandlerOptions, type RunEvent } from '../../../src/index.ts'
import { foreign, never, speaker, terminalsIn, untimed } from '../../support.ts'

const text: RunEvent = { type: 'text', text: 'x' }

function post(path: string, body: unknown, more: RequestInit = {}) {
  const headers = { 'content-type': 'application/json' }
  return new Request(`http://h/api/${path}`, { method: 'POST', body: JSON.stringify(body), headers, ...more })
}

const handlerOf = (agent: object, options: HandlerOptions = {}) =>
  createHandler({ registry: false, logger: false, serve: [agent as never], ...options })

/** The numbered events of a stream. */
async function eventsIn(response: Response): Promise<{ id: string | undefined; event: RunEvent }[]> {
  const events: { id: string | undefined; event: RunEvent }[] = []
  const parser = createParser({
    onEvent: ({ id, data }) => events.push({ id, event: untimed(JSON.parse(data)) }),
  })
  parser.feed(await response.text())
  return events
}

const KINDS = ['agent', 'team', 'workflow'] as const

describe('POST /run', () => {
  it.each(KINDS)('answers a run of an %s with its result', async kind => {
    const servable = { kind, name: 'own', run: async (input: unknown) => ({ text: `got ${input}` }) }
    const response = await handlerOf(servable)(post(`${kind}s/own/run`, { input: 'hi' }))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    const result = await response.json()
    expect(result).toMatchObject({ text: 'got hi', toolCalls: [], structured: null, finishReason: 'stop' })
    expect(response.headers.get('x-run-id')).toBe(result.runId)
  })

  it('gives the agent what the body says', async () => {
    const run = vi.fn(async () => ({}))
    const handler = handlerOf({ kind: 'agent', name: 'own', run })
    const input = [{ type: 'image', data: 'https://h/a.png' }]
    await handler(post('agents/own/run', { input, sessionId: 's', userId: 'u', apiKey: 'k', unknown: 1 }))
    const options = { sessionId: 's', userId: 'u', apiKey: 'k', apiKeys: { '*': 'k' } }
    expect(run).toHaveBeenCalledExactlyOnceWith(input, expect.objectContaining(options))
  })

  it('finds a name that is percent-encoded', async () => {
    const handler = createHandler({ registry: false, agents: { 'a/b c': speaker('x', 'x') } })
    expect((await handler(post('agents/a%2Fb%20c/run', { input: 'hi' }))).status).toBe(200)
  })

  it.each<[string, number, Request]>([
    ['an unknown name', 404, post('agents/nobody/run', { input: 'hi' })],
    ['an unknown name before its body', 404, post('agents/nobody/run', 5)],
    ['a name of another kind', 404, post('teams/own/run', { input: 'hi' })],
    ['a body without input', 400, post('agents/own/run', {})],
    ['a body that is no JSON', 400, post('agents/own/run', {}, { body: '{' })],
    ['no body', 400, post('agents/own/run', {}, { body: null })],
    ['another content type', 415, post('agents/own/run', {}, { headers: { 'content-type': 'text/plain' } })],
    ['a body that is too large', 413, post('agents/own/run', { input: 'x'.repeat(100) })],
  ])('answers %s with %i', async (_, status, request) => {
    const agent = vi.fn(() => [])
    const response = await handlerOf(foreign('own', agent), { limits: { maxBodyBytes: 100 } })(request)
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(agent).not.toHaveBeenCalled()
  })

  it('answers a run that fails with a problem and its id', async () => {
    const failing = foreign('own', () => [{ type: 'error', error: 'no', code: 'provider_failed' }])
    const response = await handlerOf(failing)(post('agents/own/run', { input: 'hi' }))
    expect(response.status).toBe(502)
    expect(response.headers.get('x-run-id')).toMatch(/^[\da-f-]{36}$/)
    expect(await response.json()).toMatchObject({ code: 'provider_failed', detail: 'no' })
  })

  it('answers a run that its client left as cancelled', async () => {
    const client = new AbortController()
    const agent = foreign('own', options => {
      setImmediate(() => client.abort())
      return new Promise((_, reject) => options?.signal?.addEventListener('abort', reject))
    })
    const response = await handlerOf(agent)(
      post('agents/own/run', { input: 'hi' }, { signal: client.signal }),
    )
    expect(await response.json()).toMatchObject({ text: '', finishReason: 'cancelled' })
  })
})

describe('POST /stream', () => {
  it.each(KINDS)('tells a run of a %s as numbered events', async kind => {
    const servable = { kind, name: 'own', run: async (input: unknown) => ({ text: `"${input}"\n\u2028` }) }
    const response = await handlerOf(servable)(post(`${kind}s/own/stream`, { input: 'hi' }))
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(response.headers.get('x-run-id')).toMatch(/^[\da-f-]{36}$/)
    expect(await eventsIn(response)).toEqual([
      { id: '1', event: { type: 'text', text: '"hi"\n\u2028' } },
      { id: '2', event: { type: 'finish', finishReason: 'stop' } },
    ])
  })

  it('ends a run that fails with one error event', async () => {
    const failing = foreign('own', async function* () {
      yield text
      throw new Error('inside')
    })
    const handler = handlerOf(failing, { production: true })
    const events = await eventsIn(await handler(post('agents/own/stream', { input: 'hi' })))
    expect(events).toEqual([
      { id: '1', event: text },
      { id: '2', event: { type: 'error', error: 'Internal server error', code: 'agent_failed' } },
    ])
  })

  const circular: Record<string, unknown> = {}
  circular.self = circular

  it.each<[string, unknown]>([
    ['a tool result that is a bigint', { type: 'tool_call_end', toolCallId: '1', result: 1n }],
    ['a tool result in a circle', { type: 'tool_call_end', toolCallId: '1', result: circular }],
    ['an end that is a bigint inside', { type: 'finish', finishReason: 'stop', structured: { size: 1n } }],
    ['an end in a circle', { type: 'finish', finishReason: 'stop', structured: circular }],
  ])('ends in one error event for %s, which is no JSON', async (_, event) => {
    const response = await handlerOf(foreign('own', () => [text, event, text]))(
      post('agents/own/stream', { input: 'hi' }),
    )
    const events = await eventsIn(response)
    expect(terminalsIn(events.map(({ event: told }) => told))).toMatchObject([{ type: 'error' }])
    expect(events.map(({ id }) => id)).toEqual(['1', '2'])
  })

  it('stops the agent when the stream is cancelled', async () => {
    const signals: (AbortSignal | undefined)[] = []
    const agent = foreign('own', async function* (options) {
      signals.push(options?.signal)
      yield text
      await never()
    })
    const response = await handlerOf(agent)(post('agents/own/stream', { input: 'hi' }))
    const reader = response.body!.getReader()
    await reader.read()
    await reader.cancel()
    expect(signals.map(signal => signal?.aborted)).toEqual([true])
  })

  it('ends as cancelled when the signal of the request fires', async () => {
    const client = new AbortController()
    const agent = foreign('own', async function* () {
      yield text
      client.abort()
      await never()
    })
    const response = await handlerOf(agent)(
      post('agents/own/stream', { input: 'hi' }, { signal: client.signal }),
    )
    expect((await eventsIn(response)).at(-1)?.event).toEqual({ type: 'finish', finishReason: 'cancelled' })
  })

  it('answers what is wrong with the request with a problem, not with a stream', async () => {
    const response = await handlerOf(speaker('own', 'x'))(post('agents/own/stream', { input: '' }))
    expect([response.status, response.headers.get('content-type')]).toEqual([400, 'application/problem+json'])
  })
})
