/** What is refused before a run, and what a service without a store does: all of it in OpenAI's form. */
import { describe, expect, it } from 'vitest'
import {
  Agent,
  bearerAuth,
  createHandler,
  type HandlerOptions,
  type Middleware,
  memoryState,
  Registry,
  ServableError,
} from '../../../src/index.ts'
import { chatCompletions } from '../../../src/protocols/openai/chat-completions.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'

const echo = new Agent({
  name: 'echo',
  register: false,
  run: (_, { metadata, apiKeys }) => JSON.stringify({ metadata, apiKeys }),
})

function make(options: HandlerOptions = {}) {
  const handler = createHandler({
    production: true,
    logger: false,
    registry: new Registry(),
    agents: { echo },
    plugins: [openai()],
    ...options,
  })
  return async (path: string, body?: string, headers: Record<string, string> = {}, method?: string) => {
    const init = {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body }),
    }
    const response = await handler(new Request(`http://h/v1/${path}`, init))
    const text = await response.text()
    return { status: response.status, headers: response.headers, text }
  }
}

type Answer = Awaited<ReturnType<ReturnType<typeof make>>>

function expectError({ status, text, headers }: Answer, expected: [number, string, string]) {
  expect(headers.get('x-request-id')).toBeTruthy()
  expect(headers.get('content-type')).toBe('application/json')
  const { error, ...others } = JSON.parse(text)
  expect(others).toEqual({})
  expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type'])
  expect([status, error.code, error.type]).toEqual(expected)
  return error
}

const CHAT = '{"model":"echo","messages":[{"role":"user","content":"x"}]}'
const RESPONSE = '{"model":"echo","input":"x"}'

/** Every route, and what it takes. */
const ROUTES: readonly [path: string, body?: string | undefined, method?: string][] = [
  ['models'],
  ['models/echo'],
  ['chat/completions', CHAT],
  ['responses', RESPONSE],
  ['responses/resp_1'],
  ['responses/resp_1', undefined, 'DELETE'],
  ['responses/resp_1/cancel', '{}'],
  ['responses/resp_1/input_items'],
  ['embeddings', '{}'],
  ['files'],
]

describe('every route', () => {
  it('say so of broken percent-encoding in a path', async () => {
    expectError(await make()('models/%zz'), [400, 'invalid_path', 'invalid_request_error'])
  })

  it('asks for a credential, which is no key of a provider', async () => {
    const authenticate = bearerAuth({ verify: token => (token === 'sk-right' ? { id: 'ann' } : undefined) })
    const ask = make({ middleware: [authenticate] })
    for (const [path, body, method] of ROUTES) {
      for (const headers of [{}, { authorization: 'Bearer sk-wrong' }] as Record<string, string>[]) {
        const refused = await ask(path, body, headers, method)
        expectError(refused, [401, 'unauthorized', 'authentication_error'])
        expect(refused.headers.get('www-authenticate')).toContain('Bearer')
      }
    }
    const { text } = await ask('chat/completions', CHAT, { authorization: 'Bearer sk-right' })
    expect(text).not.toContain('sk-right')
    expect(text).not.toContain('apiKeys')
  })

  it('has a limit of requests', async () => {
    for (const [path, body, method] of ROUTES) {
      const ask = make({ rateLimit: { max: 1, windowMs: 60_000 } })
      await ask(path, body, {}, method)
      const refused = await ask(path, body, {}, method)
      expectError(refused, [429, 'rate_limited', 'rate_limit_error'])
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
      // The SDKs wait, and try again.
      expect(refused.headers.get('x-should-retry')).toBeNull()
    }
  })

  it('tells what middleware throws, and nothing of what it did not mean to tell', async () => {
    const throwing = (error: Error): Middleware[] => [
      () => {
        throw error
      },
    ]
    for (const [path, body, method] of ROUTES) {
      const forbidden = make({ middleware: throwing(new ServableError('forbidden', 'Not you')) })
      const { message } = expectError(await forbidden(path, body, {}, method), [
        ...([403, 'forbidden', 'permission_error'] as [number, string, string]),
      ])
      expect(message).toBe('Not you')
      const broken = await make({ middleware: throwing(new Error('the vault')) })(path, body, {}, method)
      expectError(broken, [500, 'internal_error', 'server_error'])
      expect(broken.text).not.toContain('vault')
    }
  })
})

describe('a body', () => {
  const ask = make({ limits: { maxBodyBytes: 1000 } })
  const long = 'x'.repeat(1000)

  it.each(['chat/completions', 'responses'])('of %s is JSON, and not too large', async path => {
    const invalid = 'invalid_request_error'
    for (const body of ['', '{', 'null', '[]', '"x"', '1', '{"model":"echo"']) {
      expectError(await ask(path, body), [400, 'invalid_body', invalid])
    }
    expectError(await ask(path, `{"model":"${long}"}`), [413, 'body_too_large', invalid])
    const type = { 'content-type': 'text/plain' }
    expectError(await ask(path, CHAT, type), [415, 'unsupported_media_type', invalid])
    expectError(await ask(path, `${'['.repeat(400)}`), [400, 'invalid_body', invalid])
  })
})

describe('a service without a store', () => {
  it('answers, and keeps nothing', async () => {
    const ask = make({ runs: { store: 'none' } })
    const { status, text } = await ask('responses', RESPONSE)
    expect([status, JSON.parse(text).store]).toEqual([200, false])
    const invalid = 'invalid_request_error'
    for (const more of ['"store":true', '"background":true', '"conversation":"c"'])
      expectError(await ask('responses', `{"model":"echo","input":"x",${more}}`), [
        ...([400, 'runs_not_stored', invalid] as [number, string, string]),
      ])
    const id = JSON.parse(text).id
    const refused = await ask(`responses/${id}`)
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect(refused.status).toBeLessThan(500)
  })

  it('keeps what it is asked to where the plugin does so only then', async () => {
    const ask = make({ state: memoryState(), plugins: [openai({ store: false })] })
    const kept = async (more = '') => {
      const { text } = await ask('responses', `{"model":"echo","input":"x"${more}}`)
      const { id, store } = JSON.parse(text)
      return [store, (await ask(`responses/${id}`)).status]
    }
    expect([await kept(), await kept(',"store":true')]).toEqual([
      [false, 404],
      [true, 200],
    ])
  })
})

describe('a client that has left', () => {
  it.each([true, false])('before anybody reads its run stops it (kept: %s)', async store => {
    const leaving = new AbortController()
    const stopped = Promise.withResolvers<void>()
    const waits = new Agent({
      name: 'waits',
      register: false,
      async *run(_, { signal }) {
        signal.addEventListener('abort', () => stopped.resolve())
        leaving.abort()
        yield 'I wait'
        await stopped.promise
      },
    })
    const handler = createHandler({
      registry: false,
      logger: false,
      agents: { waits },
      state: memoryState(),
      plugins: [openai()],
    })
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ model: 'waits', input: 'x', store })
    const init = { method: 'POST', headers, body, signal: leaving.signal }
    await Promise.allSettled([handler(new Request('http://h/v1/responses', init))])
    await stopped.promise
  })
})

describe('Chat Completions alone', () => {
  it('has no responses', async () => {
    const ask = make({ plugins: [chatCompletions({ path: '/v1' })] })
    expect((await ask('chat/completions', CHAT)).status).toBe(200)
    expectError(await ask('responses', RESPONSE), [404, 'not_found', 'invalid_request_error'])
  })

  it('collides with both', () => {
    expect(() => make({ plugins: [chatCompletions(), openai()] })).toThrow(
      expect.objectContaining({ code: 'invalid_options' }),
    )
  })
})

describe('headers', () => {
  it('of absurd length are refused, or of no account', async () => {
    const ask = make({ state: memoryState() })
    const long = 'x'.repeat(100_000)
    for (const [path, body] of [
      ['chat/completions', CHAT],
      ['responses', RESPONSE],
    ] as const) {
      const answer = await ask(path, body, { 'idempotency-key': long })
      expectError(answer, [400, 'invalid_header', 'invalid_request_error'])
      for (const name of ['x-session-id', 'openai-organization', 'openai-beta', 'x-stainless-retry-count'])
        expect((await ask(path, body, { [name]: long })).status).toBe(200)
    }
  })

  it('of a conversation may not be absurd either', async () => {
    const ask = make({ state: memoryState() })
    for (const conversation of [
      'x'.repeat(501),
      '',
      { id: 'x'.repeat(501) },
      { id: '' },
      { id: 1 },
      {},
      [],
    ]) {
      const body = JSON.stringify({ model: 'echo', input: 'x', conversation })
      const error = expectError(await ask('responses', body), [400, 'invalid_body', 'invalid_request_error'])
      expect(error.param).toMatch(/^conversation/)
    }
  })
})
