/** JSON-RPC 2.0 at the endpoint: whatever comes, its answer is a message, and never a failure of the service. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Agent, memoryState } from '../../../src/index.ts'
import { mcpTasks } from '../../../src/protocols/mcp/plugin.ts'
import { messageIn, rpcCodeOf } from '../../../src/protocols/mcp/rpc.ts'
import { speaker } from '../../support.ts'
import { CAPABILITIES, SHOWS_FORMS, serve, TAKES_TASKS, VERSION } from './calling.ts'

const echo = speaker('echo', 'hi')
const asks = new Agent({
  name: 'asks',
  register: false,
  run: (_, { ask }) => ask('q', { message: 'Which?' }),
})
const state = memoryState()
const served = serve({ tools: true, tasks: mcpTasks() }, { agents: { echo, asks }, state })

describe('an id', () => {
  it.each(
    [0, -1, 1, -0, 2 ** 53, -(2 ** 60), 1e300, '', ' ', '0', 'é\n"', 'x'.repeat(1000), '__proto__'].map(
      id => ({ id }),
    ),
  )('is given back as it is', async ({ id }) => {
    for (const ask of [served.ask, served.askLegacy]) {
      const { status, message } = await ask('tools/list', {}, { id })
      expect([status, message.jsonrpc]).toEqual([200, '2.0'])
      expect(JSON.stringify(message.id)).toBe(JSON.stringify(id))
    }
    const { message } = await served.ask('no/method', {}, { id })
    expect([JSON.stringify(message.id), message.error.code]).toEqual([JSON.stringify(id), -32601])
  })

  it.each([1.5, null, true, {}, [], [1], 'x'.repeat(1001)].map(id => ({ id })))(
    'of another kind is refused',
    async ({ id }) => {
      const { status, message } = await served.askLegacy('ping', {}, { id })
      expect([status, message.error.code]).toEqual([400, -32600])
      expect(message.id).toBeNull()
    },
  )

  it('that is absent makes a notification, which gets no answer', async () => {
    for (const method of [
      'notifications/initialized',
      'notifications/cancelled',
      'tools/call',
      'tools/list',
      'nothing',
    ]) {
      const { status, text } = await served.post(JSON.stringify({ jsonrpc: '2.0', method }))
      expect([status, text]).toEqual([202, ''])
    }
  })
})

describe('a body', () => {
  it.each([
    ['', 400, -32700],
    ['{', 400, -32700],
    ['{"jsonrpc":"2.0"', 400, -32700],
    [`${'['.repeat(6000)}${']'.repeat(6000)}`, 400, -32700],
    [
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(6000)}1${'}'.repeat(6000)}}`,
      400,
      -32700,
    ],
    ['null', 400, -32600],
    ['"text"', 400, -32600],
    ['7', 400, -32600],
    ['[]', 400, -32600],
    ['{}', 400, -32600],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400, -32600],
    ['{"id":1,"method":"ping"}', 400, -32600],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600],
    ['{"jsonrpc":2.0,"id":1,"method":"ping"}', 400, -32600],
    ['{"jsonrpc":"2.0","id":1,"method":7}', 400, -32600],
    ['{"jsonrpc":"2.0","id":1,"method":null}', 400, -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":null}', 400, -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 400, -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}', 400, -32600],
    ['\uFEFF{"jsonrpc":"2.0","id":1,"method":"ping"}', 200, undefined],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","more":[1]}', 200, undefined],
    ['{"jsonrpc":"2.0","id":1,"method":"__proto__"}', 200, -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"constructor"}', 200, -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call"}', 200, -32602],
  ])('%.60s gets its answer', async (body, status, code) => {
    const answer = await served.post(body)
    expect([answer.status, answer.error?.code]).toEqual([status, code])
    expect(answer.message.jsonrpc).toBe('2.0')
    expect(answer.text.length).toBeLessThan(500)
  })

  it('too large, or of another type, is refused in the form of the protocol', async () => {
    const { post } = serve({ tools: true }, { limits: { maxBodyBytes: 1000 } })
    const large = await post(`{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(1000)}"}`)
    expect([large.status, large.error.code, large.error.data]).toEqual([
      413,
      -32000,
      { code: 'body_too_large' },
    ])
    const plain = await post('{}', {
      headers: { 'content-type': 'text/plain' },
    })
    expect([plain.status, plain.error.data]).toEqual([415, { code: 'unsupported_media_type' }])
  })

  const methods = fc.constantFrom(
    ...['tools/call', 'tools/list', 'server/discover', 'initialize', 'ping', 'tasks/get', 'tasks/update'],
    ...['tasks/cancel', 'notifications/cancelled', 'notifications/initialized', 'no/such'],
  )
  /** Objects that cannot be made text of, among others. */
  const anything = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom<unknown>(
      { toString: 1, valueOf: 1 },
      { toString: null },
      { __proto__: null, length: 1 },
      [[{}]],
    ),
  )
  const params = fc.record(
    {
      name: fc.oneof(fc.constantFrom('echo', 'asks', '__proto__'), anything),
      arguments: fc.oneof(
        fc.record({ input: anything, sessionId: anything }, { requiredKeys: [] }),
        anything,
      ),
      ...{
        inputResponses: anything,
        requestState: anything,
        cursor: anything,
        taskId: anything,
        requestId: anything,
      },
      ...{
        capabilities: anything,
        protocolVersion: anything,
        clientInfo: anything,
      },
      _meta: fc.oneof(
        anything,
        fc.record({
          [VERSION]: fc.oneof(fc.constant('2026-07-28'), anything),
          [CAPABILITIES]: fc.oneof(fc.constantFrom<object>({}, SHOWS_FORMS, TAKES_TASKS), anything),
          progressToken: anything,
        }),
      ),
    },
    { requiredKeys: [] },
  )
  const headerTexts = fc.constantFrom(
    '2026-07-28',
    '2025-11-25',
    'echo',
    'tools/call',
    'tasks/get',
    '[object Object]',
    '=?base64?x?=',
  )

  it('of any JSON is answered by a message, and never as a failure of the service', async () => {
    const message = fc.record(
      {
        jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant('2.0') }, anything),
        id: fc.oneof({ weight: 5, arbitrary: fc.constant(1) }, anything),
        method: fc.oneof({ weight: 9, arbitrary: methods }, anything),
        params: fc.oneof({ weight: 9, arbitrary: params }, anything),
        result: anything,
      },
      { requiredKeys: ['jsonrpc'] },
    )
    const headersOf = fc.dictionary(
      fc.constantFrom('mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id', 'accept'),
      headerTexts,
    )
    await fc.assert(
      fc.asyncProperty(
        fc.oneof({ weight: 9, arbitrary: message }, anything),
        headersOf,
        async (body, headers) => {
          const { method, params } = Object(body) as Record<string, unknown>
          const { name, taskId } = Object(params) as Record<string, unknown>
          // Half of the clients say in headers what they say in the body.
          const named = name ?? taskId
          const isTrue =
            headers.accept === undefined && typeof method === 'string' && /^[a-z/]+$/.test(method)
          const repeated =
            isTrue && typeof named === 'string' && /^\w+$/.test(named) ? { 'mcp-name': named } : {}
          const {
            status,
            text,
            message: answer,
          } = await served.post(JSON.stringify(body), {
            headers: {
              ...headers,
              ...(isTrue && {
                'mcp-protocol-version': '2026-07-28',
                'mcp-method': method,
              }),
              ...repeated,
            },
          })
          expect(status).toBeLessThan(500)
          if (status === 202) return text === ''
          expect(answer).toMatchObject({ jsonrpc: '2.0' })
          expect('result' in answer).not.toBe('error' in answer)
          if (answer.error) {
            expect(answer.error).toMatchObject({
              code: expect.any(Number),
              message: expect.any(String),
            })
            expect(answer.error.code).not.toBe(-32603)
          }
          return true
        },
      ),
      { numRuns: 1500 },
    )
  })

  it('names no value that cannot be made text of', async () => {
    const odd = { toString: 1, valueOf: 1 }
    const named = { headers: { 'mcp-name': 'echo' } }
    for (const [method, given] of [
      ['tools/call', { name: odd }],
      ['tools/call', { name: 'echo', requestState: odd }],
      ['tools/call', { name: 'asks', arguments: { input: 'x', sessionId: odd } }],
      [
        'tools/call',
        {
          name: 'asks',
          arguments: { input: 'x' },
          inputResponses: { q: { action: odd } },
        },
      ],
      ['tasks/get', { taskId: odd }],
    ] as const) {
      const headers =
        'name' in given && typeof given.name === 'string' ? { 'mcp-name': given.name } : named.headers
      const { status } = await served.ask(method, given, {
        headers,
        capabilities: TAKES_TASKS,
      })
      expect([method, Object.keys(given), status < 500]).toEqual([method, Object.keys(given), true])
    }
  })
})

describe('messages', () => {
  it('are requests, notifications or responses', () => {
    expect(messageIn({ jsonrpc: '2.0', id: 1, method: 'm' })).toEqual({
      id: 1,
      method: 'm',
      params: {},
      result: undefined,
    })
    expect(messageIn({ jsonrpc: '2.0', method: 'm', params: { a: 1 } })).toMatchObject({
      id: undefined,
      params: { a: 1 },
    })
    expect(messageIn({ jsonrpc: '2.0', id: 'x', result: { a: 1 } })).toMatchObject({
      method: undefined,
      result: { a: 1 },
    })
    expect(() => messageIn({ jsonrpc: '2.0', result: {} })).toThrow()
  })

  it.each([
    ['parse_error', -32700],
    ['invalid_body', -32602],
    ['run_not_found', -32602],
    ['unauthorized', -32000],
    ['rate_limited', -32000],
    ['internal_error', -32603],
    ['agent_failed', -32603],
    ['invalid_event', -32603],
    ['invalid_agent_response', -32603],
    ['no_such_code', -32603],
  ])('of the error %s have the code %i', (code, expected) => {
    expect(rpcCodeOf(code)).toBe(expected)
  })
})
