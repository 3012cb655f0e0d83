/** Who may call, what is refused before a run, and what a client learns of it: all of it in Anthropic's form. */
import { describe, expect, it } from 'vitest'
import {
  Agent,
  apiKeyAuth,
  bearerAuth,
  createHandler,
  type HandlerOptions,
  memoryState,
  Registry,
  ServableError,
} from '../../../src/index.ts'
import { anthropic } from '../../../src/protocols/anthropic/plugin.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import { createSseWriter, pulled } from '../../../src/web/sse.ts'

const whoami = new Agent({
  name: 'whoami',
  register: false,
  run: (_, { identity, apiKeys }) => JSON.stringify({ identity, apiKeys }),
})

let runs = 0
const fails = new Agent({
  name: 'fails',
  register: false,
  run() {
    runs++
    throw new Error('a secret of the server')
  },
})

function make(options: HandlerOptions = {}) {
  const handler = createHandler({
    production: true,
    logger: false,
    registry: new Registry(),
    agents: { whoami, fails },
    plugins: [openai(), anthropic()],
    ...options,
  })
  return async (path: string, body?: string, headers: Record<string, string> = {}, method?: string) => {
    const init = {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body }),
    }
    const response = await handler(new Request(`http://h${path}`, init))
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
}

type Answer = Awaited<ReturnType<ReturnType<typeof make>>>

function expectError({ status, text, headers }: Answer, expected: [number, string, string]) {
  expect(headers.get('content-type')).toBe('application/json')
  const body = JSON.parse(text)
  expect(Object.keys(body).sort()).toEqual(['error', 'request_id', 'type'])
  expect([status, body.error.type, body.error.details.error_code]).toEqual(expected)
  expect(headers.get('request-id')).toBe(body.request_id)
  expect(headers.get('x-request-id')).toBe(body.request_id)
}

const ask = (model: string) => JSON.stringify({ model, messages: [{ role: 'user', content: 'x' }] })
const MESSAGES = '/anthropic/v1/messages'
const WHO = ask('whoami')
const whoIn = ({ text }: Answer) => JSON.parse(JSON.parse(text).content[0].text)

describe('the token of a caller', () => {
  const tokens = { secret: 'ada' }

  it.each([
    [[bearerAuth({ tokens })], 'x-api-key', 'secret'],
    [[bearerAuth({ tokens })], 'authorization', 'Bearer secret'],
    [[apiKeyAuth({ tokens })], 'x-api-key', 'secret'],
    [[apiKeyAuth({ tokens })], 'authorization', 'Bearer secret'],
    [[apiKeyAuth({ tokens })], 'x-service-key', 'secret'],
  ])('is read, and is no key of a provider (%#)', async (middleware, header, value) => {
    const call = make({ middleware })
    expect(whoIn(await call(MESSAGES, WHO, { [header]: value }))).toEqual({ identity: 'ada' })
    expectError(await call(MESSAGES, WHO, { [header]: 'wrong' }), [
      401,
      'authentication_error',
      'unauthorized',
    ])
    expectError(await call(MESSAGES, WHO), [401, 'authentication_error', 'unauthorized'])
  })

  it('reaches no provider without authentication either, and middleware of one’s own sees it as a bearer token', async () => {
    const seen: (string | null)[] = []
    const call = make({
      middleware: [
        ({ headers }, _, next) => {
          seen.push(headers.get('authorization'), headers.get('x-api-key'))
          return next()
        },
      ],
    })
    expect(whoIn(await call(MESSAGES, WHO, { 'x-api-key': 'secret' }))).toEqual({})
    expect(seen).toEqual(['Bearer secret', null])
  })

  it('stays the key of a provider at every other path', async () => {
    const call = make()
    const { text } = await call('/v1/chat/completions', WHO, { 'x-api-key': 'key' })
    expect(JSON.parse(JSON.parse(text).choices[0].message.content)).toEqual({ apiKeys: { '*': 'key' } })
  })

  it('in `authorization` counts before that in `x-api-key`', async () => {
    const call = make({ middleware: [bearerAuth({ tokens })] })
    const both = { authorization: 'Bearer secret', 'x-api-key': 'other' }
    expect(whoIn(await call(MESSAGES, WHO, both))).toEqual({ identity: 'ada' })
  })
})

describe('errors', () => {
  it('have the form of the interface, whoever makes them', async () => {
    const call = make()
    expectError(await call(MESSAGES, ask('nobody')), [404, 'not_found_error', 'agent_not_found'])
    expectError(await call(MESSAGES, '{'), [400, 'invalid_request_error', 'invalid_body'])
    expectError(await call(MESSAGES, WHO, { 'content-type': 'text/plain' }), [
      ...([415, 'invalid_request_error', 'unsupported_media_type'] as const),
    ])
    expectError(await call(MESSAGES), [405, 'invalid_request_error', 'method_not_allowed'])
    expectError(await call('/anthropic/v1/files'), [404, 'not_found_error', 'not_found'])
    expectError(await call('/anthropic/v1/models/nobody'), [404, 'not_found_error', 'agent_not_found'])
    const small = make({ limits: { maxBodyBytes: 20 } })
    expectError(await small(MESSAGES, WHO), [413, 'request_too_large', 'body_too_large'])
    const busy = make({
      middleware: [
        () => {
          throw new ServableError('rate_limited', 'Slower', { details: { retryAfter: 7 } })
        },
      ],
    })
    const limited = await busy(MESSAGES, WHO)
    expectError(limited, [429, 'rate_limit_error', 'rate_limited'])
    expect([limited.headers.get('retry-after'), limited.headers.get('x-should-retry')]).toEqual(['7', null])
  })

  it('of a run that failed are not tried again', async () => {
    const call = make()
    const before = runs
    const answer = await call(MESSAGES, ask('fails'))
    expectError(answer, [500, 'api_error', 'agent_failed'])
    expect([answer.headers.get('x-should-retry'), runs - before]).toEqual(['false', 1])
    expect(answer.text).not.toContain('secret')
  })
})

describe('the path', () => {
  it('stands beside that of other interfaces, or is another', async () => {
    const call = make()
    const { text, headers } = await call('/anthropic/v1/models?limit=1000')
    expect(headers.get('request-id')).toBe(headers.get('x-request-id'))
    expect(JSON.parse(text)).toEqual({
      data: ['whoami', 'fails'].map(id => ({
        ...{ type: 'model', id, display_name: id, created_at: expect.stringMatching(/^\d{4}-/) },
      })),
      ...{ has_more: false, first_id: 'whoami', last_id: 'fails' },
    })
    expect(JSON.parse((await call('/v1/models')).text).object).toBe('list')
    const other = make({ plugins: [anthropic({ path: '/', models: { 'claude-x': 'whoami' } })] })
    expect(JSON.parse((await other('/v1/models')).text).data).toMatchObject([{ id: 'claude-x' }])
    const none = make({ plugins: [anthropic({ models: {} })] })
    expect(JSON.parse((await none('/anthropic/v1/models')).text)).toMatchObject({ data: [], first_id: null })
  })

  it.each([{ path: 5 }, { toolCalls: 'shown' }, { models: { a: 5 } }, { store: true }])(
    'and the options are checked: %j',
    options =>
      expect(() => anthropic(options as never)).toThrow(expect.objectContaining({ code: 'invalid_options' })),
  )
})

it('a key makes a request run once', async () => {
  const call = make({ state: memoryState() })
  const headers = { 'idempotency-key': 'once' }
  const [first, second] = [await call(MESSAGES, WHO, headers), await call(MESSAGES, WHO, headers)]
  expect(JSON.parse(second.text).id).toBe(JSON.parse(first.text).id)
})

it('a silent run says that it is there in the words of the interface', async () => {
  const written: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const source = pulled({ next: () => promise.then(() => undefined), cancel: () => {} })
  const sink = { hasRoom: () => true, write: (text: string) => void (written.push(text) > 2 && resolve()) }
  await createSseWriter({ ...source, keepAlive: 'event: ping\n\n' }, sink, 10).write()
  expect(written).toEqual([': open\n\n', 'event: ping\n\n', 'event: ping\n\n'])
})
