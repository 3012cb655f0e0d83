/** Whatever JSON a client sends: it is read, or refused as the client's mistake. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isClientErrorCode, isServableError } from '../../src/errors.ts'
import { asksJson, type CommonBody, clientToolsOf, type Fields } from '../../src/openai/body.ts'
import { ChatBodySchema, saidIn as chatIn } from '../../src/openai/chat/messages.ts'
import { partsOf } from '../../src/openai/parts.ts'
import { itemsOf, ResponsesBodySchema, saidIn } from '../../src/openai/responses/items.ts'
import { conversationOf, formatOf } from '../../src/openai/responses/object.ts'
import { parseConversation } from '../../src/runs/input.ts'
import type { Target } from '../../src/runs/target.ts'
import { validate } from '../../src/validation.ts'

/** Members that break what takes a value for more than it is. */
const odd = fc.constantFrom<unknown>(
  null,
  true,
  0,
  '',
  'x',
  [],
  [null],
  {},
  JSON.parse('{"__proto__":{"type":"text"}}'),
  { toString: 1, valueOf: 1 },
  { toJSON: 1, length: -1, constructor: null },
)

/** Any of it, as it comes out of a body. */
const value = fc.oneof({ weight: 3, arbitrary: odd }, { weight: 1, arbitrary: fc.jsonValue() })

const orOdd = <T>(...right: T[]): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 5, arbitrary: fc.constantFrom<unknown>(...right) }, { weight: 1, arbitrary: value })

const part = fc.record(
  {
    type: orOdd(
      'text',
      'input_text',
      'output_text',
      'refusal',
      'image_url',
      'input_image',
      'input_audio',
      'file',
    ),
    text: orOdd('hello', ''),
    refusal: orOdd('no'),
    image_url: orOdd<unknown>('https://h.example/i.png', { url: 'data:image/png;base64,aGk=' }),
    input_audio: orOdd<unknown>(
      { data: 'aGk=', format: 'mp3' },
      { data: 'aGk=', format: { toString: 1 } },
      { data: 'aGk=' },
    ),
    file: orOdd<unknown>({ file_data: 'aGk=', filename: 'a.txt' }, { file_id: 'file_1' }),
    file_data: orOdd('aGk='),
    file_url: orOdd('https://h.example/f'),
  },
  { requiredKeys: [] },
)

const content = fc.oneof(orOdd('hello', ''), fc.array(fc.oneof(part, value), { maxLength: 3 }))

const message = fc.record(
  {
    role: orOdd('system', 'developer', 'user', 'user', 'assistant', 'tool'),
    content,
    tool_call_id: orOdd('c1', 'c2'),
    tool_calls: fc.oneof(
      value,
      fc.array(
        orOdd<unknown>(
          { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
          { id: 'c2', function: { name: 'f', arguments: '['.repeat(6000) } },
          { id: '', function: { name: '', arguments: 1 } },
        ),
        { maxLength: 3 },
      ),
    ),
  },
  { requiredKeys: [] },
)

const item = fc.record(
  {
    type: orOdd<unknown>(
      ...['message', undefined, 'function_call', 'function_call_output', 'item_reference'],
      ...['mcp_approval_response', 'reasoning', 'mcp_call', 'web_search_call'],
    ),
    role: orOdd('system', 'developer', 'user', 'user', 'assistant', 'tool'),
    content,
    id: orOdd('msg_0190a1b2c3d44e5f8a9b0123456789ab'),
    call_id: orOdd('c1', 'c2'),
    name: orOdd('f'),
    arguments: orOdd('{}', '{"__proto__":1}', '{"a":'.repeat(6000)),
    output: fc.oneof(content, orOdd('{"a":1}', '[1', 'true', '['.repeat(6000))),
    approval_request_id: orOdd('mcpr_0190a1b2c3d44e5f8a9b0123456789ab_1'),
    approve: orOdd(true, false),
    reason: orOdd('because'),
  },
  { requiredKeys: [] },
)

const toolOf = fc.record(
  {
    type: orOdd('function', 'web_search'),
    name: orOdd('f', '__proto__'),
    function: orOdd<unknown>(
      { name: 'f', description: null, parameters: null },
      { name: 'g', parameters: { type: 'object', properties: {} }, strict: true },
    ),
    description: orOdd('d'),
    parameters: orOdd<unknown>({ type: 'object' }, { type: 'string' }),
  },
  { requiredKeys: [] },
)

const common = {
  model: orOdd('m'),
  stream: orOdd(true, null),
  tools: fc.oneof(value, fc.array(fc.oneof(toolOf, value), { maxLength: 3 })),
  tool_choice: orOdd<unknown>('auto', 'none', 'required', { type: 'function', function: { name: 'f' } }),
}

const chatBody = fc.record(
  {
    ...common,
    messages: fc.oneof(
      { weight: 9, arbitrary: fc.array(message, { maxLength: 5 }) },
      { weight: 1, arbitrary: value },
    ),
    n: orOdd(1, 2),
    response_format: orOdd<unknown>({ type: 'json_object' }, { type: 'text' }),
    stream_options: orOdd<unknown>({ include_usage: true }),
  },
  { requiredKeys: ['model', 'messages'] },
)

const responsesBody = fc.record(
  {
    ...common,
    input: fc.oneof(
      { weight: 9, arbitrary: fc.array(item, { maxLength: 5 }) },
      { weight: 1, arbitrary: value },
    ),
    instructions: orOdd('Be brief'),
    previous_response_id: orOdd('resp_1'),
    conversation: orOdd<unknown>('c', { id: 'c' }, { id: 1 }),
    text: orOdd<unknown>({ format: { type: 'json_object' } }, { format: null }),
    metadata: orOdd<unknown>({ a: 'b' }),
  },
  { requiredKeys: ['model', 'input'] },
)

/** Throws what no client may cause. */
function readOrRefused(read: () => unknown): void {
  try {
    read()
  } catch (error) {
    if (!isServableError(error) || !isClientErrorCode(error.code)) throw error
    // What is told has a bound, and is well formed.
    expect(error.message.length).toBeLessThan(3000)
  }
}

const plain = { kind: 'agent', name: 'm', servable: { run: async () => ({}) } } as unknown as Target

describe('a body of anything', () => {
  it('is read as Chat Completions, or refused', () => {
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: chatBody }, { weight: 1, arbitrary: value }), json => {
        readOrRefused(() => {
          const body = validate(ChatBodySchema, json, 'invalid_body', 'body')
          readOrRefused(() => asksJson(body.response_format, plain, 'response_format'))
          readOrRefused(() => parseConversation({ clientTools: clientToolsOf(body) }))
          const { input, history, given } = chatIn(body.messages)
          expect(given.length === 0 || input === '').toBe(true)
          for (const { id } of given) expect(id).toBeTypeOf('string')
          // What the run is given passes its own checks but for texts that are empty.
          readOrRefused(() => parseConversation({ history: history() }))
        })
      }),
      { numRuns: 3000 },
    )
  })

  it('is read as Responses, or refused', () => {
    fc.assert(
      fc.property(
        fc.oneof({ weight: 9, arbitrary: responsesBody }, { weight: 1, arbitrary: value }),
        json => {
          readOrRefused(() => {
            const body = validate(ResponsesBodySchema, json, 'invalid_body', 'body')
            readOrRefused(() => asksJson(formatOf(body.text), plain, 'text.format'))
            readOrRefused(() => parseConversation({ clientTools: clientToolsOf(body) }))
            conversationOf(body)
            const { input, earlier, given } = saidIn(body.input)
            expect(given.length === 0 || input === undefined).toBe(true)
            for (const { id } of given) expect(id).toBeTypeOf('string')
            const history = earlier.flatMap(each => ('role' in each ? [each] : []))
            readOrRefused(() => parseConversation({ history }))
            // And is told again as items, each with an id of its own.
            const items = itemsOf(history, at => `in_${at}`)
            expect(new Set(items.map(({ id }) => id)).size).toBe(items.length)
          })
        },
      ),
      { numRuns: 3000 },
    )
  })

  it('gives a prototype to nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(part, value), { maxLength: 5 }), all => {
        readOrRefused(() => {
          for (const each of partsOf(all, 'content')) {
            expect(Object.getPrototypeOf(each)).toBe(Object.prototype)
            expect(Object.keys(each)).not.toContain('__proto__')
          }
        })
      }),
      { numRuns: 1000 },
    )
  })
})

const user = (text: string) => ({ role: 'user', content: text })
const assistantCall = (id: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
})

describe('messages', () => {
  it('tell what is new, and what was said before', () => {
    const { input, history, given } = chatIn([
      { role: 'developer', content: 'Be brief' },
      user('one'),
      assistantCall('c'),
      { role: 'tool', tool_call_id: 'c', content: '{"b":2}' },
      { role: 'assistant', content: [{ type: 'text', text: 'two' }] },
      user('three'),
    ])
    expect([input, given]).toEqual(['three', []])
    expect(history()).toEqual([
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: '', toolCalls: [{ toolCallId: 'c', toolName: 'f', args: { a: 1 } }] },
      { role: 'tool', toolCallId: 'c', toolName: 'f', result: '{"b":2}' },
      { role: 'assistant', content: 'two' },
    ])
  })

  it('with results at the end are answers, those since the last turn alone', () => {
    const result = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content })
    const { given } = chatIn([
      user('one'),
      assistantCall('a'),
      result('a', 'old'),
      assistantCall('b'),
      result('b', '{"x":1}'),
      result('c', [{ type: 'text', text: 'plain' }]),
      result('d', ''),
      { role: 'system', content: 'go on' },
    ])
    expect(given.map(({ id, answer }) => [id, (answer as { result: unknown }).result])).toEqual([
      ['b', { x: 1 }],
      ['c', 'plain'],
      ['d', ''],
    ])
  })

  it.each([
    ['only the system’s', [{ role: 'system', content: 'x' }]],
    ['the assistant’s last', [user('x'), { role: 'assistant', content: 'Sure: ' }]],
    ['of an unknown role', [{ role: 'function', name: 'f', content: 'x' }, user('x')]],
    ['a file that is only named', [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }]],
  ])('are refused: %s', (_, messages) => {
    expect(() => chatIn(messages as Fields[])).toThrow(expect.objectContaining({ code: 'invalid_body' }))
  })
})

describe('items', () => {
  const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' })
  const output = (id: string, result: unknown = 'done') => ({
    type: 'function_call_output',
    call_id: id,
    output: result,
  })

  it('of one assistant are one message: results come after all of its calls', () => {
    const { earlier, input } = saidIn([
      user('one'),
      { role: 'assistant', content: 'I look' },
      call('a'),
      call('b'),
      output('a'),
      output('b'),
      user('two'),
    ])
    expect(input).toBe('two')
    expect(earlier).toMatchObject([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'I look', toolCalls: [{ toolCallId: 'a' }, { toolCallId: 'b' }] },
      { role: 'tool', toolCallId: 'a' },
      { role: 'tool', toolCallId: 'b' },
    ])
  })

  it('answer what comes after the newest message of the user', () => {
    const approve = { type: 'mcp_approval_response', approval_request_id: 'p', approve: true, reason: '' }
    expect(saidIn([user('x'), call('a'), output('a', '{"n":1}'), approve])).toMatchObject({
      input: undefined,
      given: [
        { id: 'a', answer: { result: { n: 1 } }, path: 'input.2.call_id' },
        { id: 'p', answer: { decision: 'approve' }, path: 'input.3.approval_request_id' },
      ],
    })
    expect(saidIn([output('a'), approve, user('x')]).given).toEqual([])
  })

  it.each([undefined, null, 0, 'true', 'yes', {}, [true]])('approve nothing by %j', approve => {
    const response = { type: 'mcp_approval_response', approval_request_id: 'p', approve } as Fields
    expect(saidIn([response]).given).toMatchObject([{ answer: { decision: 'deny' } }])
  })

  it('that nobody here knows are left out, those that are no items refused', () => {
    const kinds = [
      'reasoning',
      'mcp_call',
      'mcp_list_tools',
      'mcp_approval_request',
      'computer_call',
      '__proto__',
    ]
    expect(saidIn([...kinds.map(type => ({ type })), user('x')])).toEqual({
      input: 'x',
      earlier: [],
      given: [],
    })
    const bad = [{ type: 'function_call' }, { type: 'function_call_output' }, { type: 'item_reference' }, {}]
    for (const item of bad)
      expect(() => saidIn([item])).toThrow(expect.objectContaining({ code: 'invalid_body' }))
  })
})

describe('tools of a client', () => {
  const of = (body: object) => clientToolsOf({ model: 'm', ...body } as CommonBody)
  const nested = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }
  const flat = { type: 'function', name: 'f', parameters: { type: 'object' }, strict: true }

  it('are the same of Chat Completions and of Responses', () => {
    expect(of({ tools: [nested, { type: 'web_search' }] })).toEqual(of({ tools: [flat] }))
  })

  it.each([
    ['tools are none', { tools: [] }],
    ['tools are null', { tools: null }],
    ['tools are only a provider’s', { tools: [{ type: 'web_search' }] }],
    ['the choice is none', { tools: [flat], tool_choice: 'none' }],
  ])('are none where %s', (_, body) => expect(of(body)).toBeUndefined())

  it.each(['required', { type: 'function', name: 'f' }, 1, {}])('may not be demanded: %j', tool_choice => {
    expect(() => of({ tools: [flat], tool_choice })).toThrow(
      expect.objectContaining({ code: 'invalid_body' }),
    )
  })
})

describe('parts', () => {
  const one = (part: object) => partsOf([part], 'content')

  it.each<[object, object]>([
    [
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    ],
    [
      { type: 'input_image', image_url: 'https://h.example/i' },
      { type: 'image', data: 'https://h.example/i', mimeType: 'image/*' },
    ],
    [
      { type: 'input_audio', input_audio: { data: 'aGk=', format: 'mp3' } },
      { type: 'audio', data: 'aGk=', mimeType: 'audio/mpeg' },
    ],
    [
      { type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } },
      { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
    ],
    [
      { type: 'file', file: { file_data: 'data:text/plain;charset=utf-8;base64,aGk=', filename: 'a.txt' } },
      { type: 'file', data: 'aGk=', mimeType: 'text/plain', filename: 'a.txt' },
    ],
    [
      { type: 'input_file', file_url: 'https://h.example/f' },
      { type: 'file', data: 'https://h.example/f', mimeType: 'application/octet-stream' },
    ],
    [
      { type: 'refusal', refusal: 'no' },
      { type: 'text', text: 'no' },
    ],
  ])('%j is %j', (part, expected) => expect(one(part)).toEqual([expected]))

  it('are at most a thousand', () => {
    const text = { type: 'text', text: 'x' }
    expect(partsOf(Array(1000).fill(text), 'content')).toHaveLength(1000)
    expect(() => partsOf(Array(1001).fill(text), 'content')).toThrow('at most 1000')
  })

  it('are found in a long `data:` URL without reading it twice', () => {
    const url = `data:${'x'.repeat(1_000_000)}`
    expect(one({ type: 'input_image', image_url: url })).toMatchObject([{ data: url, mimeType: 'image/*' }])
  })
})
