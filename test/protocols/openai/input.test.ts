/** Whatever JSON a client sends: an agent hears it, or it is refused as the client's mistake. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ContentPart, createHandler, type HistoryMessage, Registry } from '../../../src/index.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { listening } from '../models/listening.ts'

const { listens, last } = listening()

const lastHeard = () => last.heard

const handler = createHandler({
  production: true,
  logger: false,
  registry: new Registry(),
  agents: { m: listens },
  runs: { clientSystem: 'append' },
  plugins: [openai({ store: false })],
})

/** Sends a body: gives what the agent heard, or the error. */
async function send(path: string, json: unknown) {
  delete last.heard
  const response = await handler(new Request(`http://h/v1/${path}`, jsonRequest(json)))
  const text = await response.text()
  const { error } = response.headers.get('content-type') === 'application/json' ? JSON.parse(text) : {}
  return { status: response.status, text, error: error ?? undefined, heard: lastHeard() }
}

const chat = (messages: unknown, more: object = {}) =>
  send('chat/completions', { model: 'm', messages, ...more })
const respond = (input: unknown, more: object = {}) => send('responses', { model: 'm', input, ...more })

/** A prototype that JSON has cannot be told from the one of all objects by a check of equality. */
function expectPlain(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  expect([Object.prototype, Array.prototype]).toContain(Object.getPrototypeOf(value))
  for (const each of Object.values(value)) expectPlain(each)
}

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

/** Sends a body, and checks that it does what bodies may. */
async function heardOrRefused(path: string, json: unknown): Promise<void> {
  const answer = await send(path, json)
  if (answer.status === 200) {
    expectPlain(answer.heard?.input)
    expectPlain(answer.heard?.options.history)
    return
  }
  expect([400, 404], answer.text).toContain(answer.status)
  expect(answer.error).toMatchObject({ type: 'invalid_request_error', code: expect.any(String) })
  expect(answer.text.length).toBeLessThan(3000)
}

const orValue = (arbitrary: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 9, arbitrary }, { weight: 1, arbitrary: value })

describe('a body of anything', () => {
  it.each<[string, fc.Arbitrary<unknown>]>([
    ['chat/completions', chatBody],
    ['responses', responsesBody],
  ])('is heard at %s, or refused', (path, bodies) =>
    fc.assert(
      fc.asyncProperty(orValue(bodies), json => heardOrRefused(path, json)),
      { numRuns: 2000 },
    ),
  )
})

const user = (said: unknown) => ({ role: 'user', content: said })
const assistantCall = (id: string) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
})

const historyIn = ({ heard: told }: Awaited<ReturnType<typeof send>>) =>
  (told?.options.history ?? []) as HistoryMessage[]

describe('messages', () => {
  it('tell what is new, and what was said before', async () => {
    const told = await chat([
      { role: 'developer', content: 'Be brief' },
      user('one'),
      assistantCall('c'),
      { role: 'tool', tool_call_id: 'c', content: '{"b":2}' },
      { role: 'assistant', content: [{ type: 'text', text: 'two' }] },
      user('three'),
    ])
    expect(told.heard?.input).toBe('three')
    expect(historyIn(told)).toMatchObject([
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: 'one' },
      { role: 'assistant', toolCalls: [{ toolCallId: 'c', toolName: 'f', args: { a: 1 } }] },
      { role: 'tool', toolCallId: 'c', toolName: 'f', result: '{"b":2}' },
      { role: 'assistant', content: 'two' },
    ])
  })

  it.each<[string, unknown[]]>([
    ['only the system’s', [{ role: 'system', content: 'x' }]],
    ['the assistant’s last', [user('x'), { role: 'assistant', content: 'Sure: ' }]],
    ['of an unknown role', [{ role: 'function', name: 'f', content: 'x' }, user('x')]],
    ['a file that is only named', [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }]],
    ['an empty one', [user('')]],
    ['none', []],
  ])('are refused: %s', async (_, messages) => {
    expect(await chat(messages)).toMatchObject({ status: 400, error: { code: 'invalid_body' } })
  })

  it('without what was called and never answered, or answered and never called', async () => {
    const torn = await chat([
      assistantCall('a'),
      { role: 'tool', tool_call_id: 'b', content: 'x' },
      { role: 'assistant', content: null },
      user('x'),
    ])
    expect(historyIn(torn)).toEqual([])
  })

  it('tell an empty result as it is', async () => {
    const told = await chat([assistantCall('c'), { role: 'tool', tool_call_id: 'c', content: '' }, user('x')])
    expect(historyIn(told)).toMatchObject([{}, { role: 'tool', result: '' }])
  })
})

describe('items', () => {
  const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' })
  const output = (id: string, result: unknown = 'done') => ({
    type: 'function_call_output',
    call_id: id,
    output: result,
  })

  it('of one assistant are one message: results come after all of its calls', async () => {
    const told = await respond([
      user('one'),
      { role: 'assistant', content: 'I look' },
      call('a'),
      call('b'),
      output('a'),
      output('b'),
      user('two'),
    ])
    expect(told.heard?.input).toBe('two')
    expect(historyIn(told)).toMatchObject([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'I look', toolCalls: [{ toolCallId: 'a' }, { toolCallId: 'b' }] },
      { role: 'tool', toolCallId: 'a', result: 'done' },
      { role: 'tool', toolCallId: 'b', result: 'done' },
    ])
  })

  it('that nobody here knows are left out, those that are no items refused', async () => {
    const kinds = [
      'reasoning',
      'mcp_call',
      'mcp_list_tools',
      'mcp_approval_request',
      'computer_call',
      '__proto__',
    ]
    const told = await respond([...kinds.map(type => ({ type })), user('x')])
    expect([told.heard?.input, historyIn(told)]).toEqual(['x', []])
    const bad = [
      { type: 'function_call' },
      { type: 'function_call_output' },
      { type: 'item_reference' },
      { type: 'mcp_approval_response', approve: true },
      {},
    ]
    for (const each of bad)
      expect(await respond([each, user('x')])).toMatchObject({ status: 400, error: { code: 'invalid_body' } })
  })
})

describe('tools of a client', () => {
  const parameters = { type: 'object' }
  const nested = { type: 'function', function: { name: 'f', parameters } }
  const flat = { type: 'function', name: 'f', parameters, strict: true }
  const toolsOf = async (body: object) => (await chat([user('x')], body)).heard?.options.clientTools

  it('are the same of Chat Completions and of Responses', async () => {
    expect(await toolsOf({ tools: [nested, { type: 'web_search' }] })).toEqual([{ name: 'f', parameters }])
    expect(await toolsOf({ tools: [flat] })).toEqual([{ name: 'f', parameters }])
  })

  it.each([
    ['tools are none', { tools: [] }],
    ['tools are null', { tools: null }],
    ['tools are only a provider’s', { tools: [{ type: 'web_search' }] }],
    ['the choice is none', { tools: [flat], tool_choice: 'none' }],
  ])('are none where %s', async (_, body) => expect(await toolsOf(body)).toBeUndefined())

  it.each(['required', { type: 'function', name: 'f' }, 1, {}])('may not be demanded: %j', async choice => {
    for (const answer of [
      await chat([user('x')], { tools: [nested], tool_choice: choice }),
      await respond('x', { tools: [flat], tool_choice: choice }),
    ])
      expect(answer).toMatchObject({ status: 400, error: { code: 'invalid_body', param: 'tool_choice' } })
  })

  it('whose names are no names, or are the same, are refused', async () => {
    const bad = [
      [flat, flat],
      [{ ...flat, name: '__proto__' }],
      [{ ...flat, name: 'é' }],
      [{ type: 'function' }],
    ]
    for (const tools of bad)
      expect(await respond('x', { tools })).toMatchObject({
        status: 400,
        error: { code: 'invalid_body', param: expect.stringMatching(/^tools/) },
      })
  })
})

describe('JSON nested 6,000 deep', () => {
  const deep = `${'['.repeat(6000)}${']'.repeat(6000)}`

  it('is text in arguments and results', async () => {
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: deep }
    const output = { type: 'function_call_output', call_id: 'c', output: deep }
    const heardOf = [{ toolCalls: [{ args: deep }] }, { result: deep }]
    expect(historyIn(await respond([call, output, user('x')]))).toMatchObject(heardOf)
    const messages = [
      { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: deep } }] },
      { role: 'tool', tool_call_id: 'c', content: deep },
      user('x'),
    ]
    expect(historyIn(await chat(messages))).toMatchObject(heardOf)
  })

  it('is refused in a body', async () => {
    const tool = `{"type":"function","name":"f","parameters":{"type":"object","x":${deep}}}`
    for (const body of [
      `{"model":"m","input":"x","tools":[${tool}]}`,
      `{"model":"m","input":${deep}}`,
      `{"model":"m","input":"x","metadata":{"a":${deep}}}`,
    ]) {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
      const response = await handler(new Request('http://h/v1/responses', init))
      expect([response.status, (await response.json()).error.code]).toEqual([400, 'invalid_body'])
    }
  })
})

describe('parts', () => {
  const one = async (part: object) => (await chat([user([part])])).heard?.input as ContentPart[]

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
      { type: 'input_audio', input_audio: { data: 'aGk=' } },
      { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
    ],
    [
      { type: 'file', file: { file_data: 'data:text/plain;charset=utf-8;base64,aGk=', filename: 'a.txt' } },
      { type: 'file', data: 'aGk=', mimeType: 'text/plain', filename: 'a.txt' },
    ],
    [
      { type: 'input_file', file_url: 'https://h.example/f', filename: 5 },
      { type: 'file', data: 'https://h.example/f', mimeType: 'application/octet-stream' },
    ],
  ])('%j is %j', async (part, expected) => expect(await one(part)).toEqual([expected]))

  it('are at most a thousand', async () => {
    const text = { type: 'text', text: 'x' }
    expect((await chat([user(Array(1000).fill(text))])).heard?.input).toHaveLength(1000)
    expect(await chat([user(Array(1001).fill(text))])).toMatchObject({ status: 400 })
  })

  it('are whole where a `data:` URL is long', async () => {
    const url = `data:${'x'.repeat(1_000_000)}`
    expect(await one({ type: 'input_image', image_url: url })).toMatchObject([
      { data: url, mimeType: 'image/*' },
    ])
  })
})
