/** Services that answer what no service should. */
import { describe, expect, it } from 'vitest'
import type { RemoteAgentOptions } from '../../../src/adapters/a2a-client/index.ts'
import { BASE, eventsOf, noting, remote } from './service.ts'

const CARD = {
  name: 'x',
  capabilities: { streaming: true },
  supportedInterfaces: [{ url: `${BASE}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
}

/** Answers each request of JSON-RPC with these events. */
function streaming(...results: readonly unknown[]) {
  return speaking(id => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const result of results) {
          const event = `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`
          controller.enqueue(new TextEncoder().encode(event))
        }
        controller.close()
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  })
}

function speaking(
  answer: (id: unknown, method: string) => Response | Promise<Response>,
  card: unknown = CARD,
) {
  return noting(async request => {
    if (request.method === 'GET') return Response.json(card)
    const { id, method } = (await request.json()) as { id: unknown; method: string }
    return method === 'CancelTask' ? Response.json({ jsonrpc: '2.0', id, result: {} }) : answer(id, method)
  })
}

const task = (more: object = {}, id = 't1') => ({
  task: { id, contextId: 'c1', status: { state: 'TASK_STATE_WORKING' }, ...more },
})
const artifact = (parts: unknown, more: object = {}) => ({
  artifactUpdate: { taskId: 't1', contextId: 'c1', artifact: { artifactId: 'a', parts }, ...more },
})
const done = { statusUpdate: { taskId: 't1', contextId: 'c1', status: { state: 'TASK_STATE_COMPLETED' } } }

/** Nests so many levels of lists. */
const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)

const ask = (fetch: RemoteAgentOptions['fetch'], more: Partial<RemoteAgentOptions> = {}) =>
  eventsOf(remote({ ...(fetch && { fetch }), ...more }))

describe('a hostile service', () => {
  it.each([
    ['another task in the stream', [task(), task({}, 't2')]],
    ['another context of the task', [task(), { statusUpdate: { ...done.statusUpdate, contextId: 'c2' } }]],
    [
      'a message in the middle of a task',
      [task(), { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [] } }],
    ],
    ['a task without an id', [task({}, '')]],
    ['an id that is too long', [task({}, 'x'.repeat(1001))]],
    ['no state', [task({ status: {} }), { statusUpdate: { taskId: 't1', contextId: 'c1' } }]],
    ['a state that nobody knows', [task({ status: { state: 'TASK_STATE_DREAMING' } })]],
    ['an update without its artifact', [task(), { artifactUpdate: { taskId: 't1', contextId: 'c1' } }]],
    ['JSON that is nested too deep', [task(), artifact([{ data: nested(300) }])]],
    ['too many parts', [task(), artifact(Array(1001).fill({ text: 'a' }))]],
    ['parts that are none', [task(), artifact([null])]],
    [
      'too many artifacts',
      [task({ artifacts: Array.from({ length: 1001 }, (_, at) => ({ artifactId: `a${at}`, parts: [] })) })],
    ],
    [
      'requests that are none',
      [
        task({
          status: {
            state: 'TASK_STATE_INPUT_REQUIRED',
            message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ data: { requests: [{ id: 1 }] } }] },
          },
        }),
      ],
    ],
    [
      'too many requests',
      [
        task({
          status: {
            state: 'TASK_STATE_INPUT_REQUIRED',
            message: {
              ...{ messageId: 'm', role: 'ROLE_AGENT' },
              parts: [{ data: { requests: Array(101).fill({ id: 'a', kind: 'question' }) } }],
            },
          },
        }),
      ],
    ],
  ])('fails the run with a code: %s', async (_, results) => {
    await expect(ask(streaming(...results).fetch)).rejects.toMatchObject({ code: 'invalid_agent_response' })
  })

  it.each([
    ['no JSON', () => new Response('data: {\n\n', { headers: { 'content-type': 'text/event-stream' } })],
    ['another id', () => Response.json({ jsonrpc: '2.0', id: 'other', result: {} })],
    ['a page', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
    [
      'another type of stream',
      () => new Response('{}', { headers: { 'content-type': 'application/x-ndjson' } }),
    ],
  ])('fails the run where it answers %s', async (_, answer) => {
    await expect(ask(speaking(answer).fetch)).rejects.toMatchObject({ code: 'invalid_agent_response' })
  })

  it.each([401, 403, 404, 500, 503])('fails the run where it answers %i', async status => {
    const { fetch } = speaking(() => new Response('secret page', { status }))
    const failure = await ask(fetch).catch(error => error)
    expect(failure).toMatchObject({ code: 'provider_failed' })
    expect(failure.message).toContain(String(status))
    expect(failure.message).not.toContain('secret page')
  })

  it('cancels a task of which it says too much', async () => {
    const { fetch, methods } = streaming(task(), artifact([{ text: 'x'.repeat(2000) }]), done)
    await expect(ask(fetch, { maxStreamBytes: 1000 })).rejects.toMatchObject({
      code: 'invalid_agent_response',
    })
    expect(methods()).toEqual(['/.well-known/agent-card.json', 'SendStreamingMessage', 'CancelTask'])
  })

  it('is left where its answer is too large', async () => {
    const { fetch } = speaking(
      id => Response.json({ jsonrpc: '2.0', id, result: task({ metadata: { a: 'x'.repeat(3000) } }) }),
      { ...CARD, capabilities: {} },
    )
    await expect(ask(fetch, { maxBytes: 2000 })).rejects.toMatchObject({ code: 'invalid_agent_response' })
  })

  it('has no part at an address that runs code', async () => {
    const urls = [
      'javascript:alert(1)',
      ' JaVa\nScript:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      '/relative',
      '',
    ]
    const parts = [
      ...urls.map(url => ({ url })),
      { url: 'https://files.test/a.png', mediaType: 'image/png' },
      {},
    ]
    const { fetch } = streaming(task(), artifact(parts, { lastChunk: true }), done)
    expect(await ask(fetch)).toMatchObject([
      { type: 'artifact', parts: [{ type: 'image', data: 'https://files.test/a.png' }] },
      { type: 'finish', finishReason: 'stop' },
    ])
  })

  it('is never sent credentials at another origin', async () => {
    const seen: string[] = []
    const { fetch, got } = speaking(() => new Response(), {
      ...CARD,
      supportedInterfaces: [{ ...CARD.supportedInterfaces[0], url: 'http://evil.test/rpc' }],
    })
    const headers = ({ url }: { url: string }) => {
      seen.push(url)
      return { authorization: 'Bearer token-1234567' }
    }
    await expect(ask(fetch, { headers, allow: ['remote.test', 'evil.test'] })).rejects.toMatchObject({
      ...{ code: 'provider_failed', message: expect.stringContaining('http://evil.test') },
    })
    expect(seen).toEqual([`${BASE}/.well-known/agent-card.json`])
    expect(got).toHaveLength(1)
  })

  it.each([
    ['http://127.0.0.1:9', []],
    ['http://169.254.169.254/latest', []],
    ['http://metadata.internal', []],
  ])('is not reached at the private address %s', async (url, allow) => {
    const { fetch, got } = speaking(() => new Response())
    await expect(ask(fetch, { url, allow })).rejects.toMatchObject({ code: 'provider_failed' })
    expect(got).toEqual([])
  })

  it('leads nowhere by redirects', async () => {
    const { fetch, got } = noting(
      () => new Response(null, { status: 302, headers: { location: 'http://evil.test/' } }),
    )
    await expect(ask(fetch, { allow: ['remote.test', 'evil.test'] })).rejects.toMatchObject({
      code: 'provider_failed',
    })
    expect(got).toHaveLength(1)
    const posting = speaking(
      () => new Response(null, { status: 307, headers: { location: `${BASE}/other` } }),
    )
    await expect(ask(posting.fetch)).rejects.toMatchObject({ code: 'provider_failed' })
  })

  it('gets no credential into an error', async () => {
    const { fetch } = speaking(id =>
      Response.json({
        jsonrpc: '2.0',
        id,
        error: { code: -32603, message: 'Bearer token-1234567 is wrong' },
      }),
    )
    const headers = () => ({ authorization: 'Bearer token-1234567' })
    const failure = await ask(fetch, { headers }).catch(error => error)
    expect(failure.message).toContain('is wrong')
    expect(failure.message).not.toContain('token-1234567')
  })

  it.each([
    ['that is no object', '[]'],
    ['that is no JSON', '<html>'],
    ['without an address', '{}'],
    [
      'of another protocol',
      JSON.stringify({ ...CARD, supportedInterfaces: [{ url: BASE, protocolBinding: 'GRPC' }] }),
    ],
    [
      'of another version',
      JSON.stringify({
        ...CARD,
        supportedInterfaces: [{ url: BASE, protocolBinding: 'JSONRPC', protocolVersion: '2.0' }],
      }),
    ],
  ])('fails the run with a card %s', async (_, text) => {
    const { fetch } = noting(() => new Response(text))
    await expect(ask(fetch)).rejects.toMatchObject({
      code: expect.stringMatching(/^(invalid_agent_response|provider_failed)$/),
    })
  })

  it('is given up where it ends each stream before its task', async () => {
    const { fetch } = speaking((id, method) => {
      const result = method === 'GetTask' ? task().task : task()
      if (method === 'GetTask') return new Response(null, { status: 503 })
      const event = `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`
      if (method === 'SubscribeToTask') return new Response(null, { status: 503 })
      return new Response(event, { headers: { 'content-type': 'text/event-stream' } })
    })
    await expect(ask(fetch, { pollMs: 1 })).rejects.toMatchObject({ code: 'provider_failed' })
  })
})
