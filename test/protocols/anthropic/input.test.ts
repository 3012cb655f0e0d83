/** Whatever JSON a client sends: an agent hears it, or it is refused as the client's mistake. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHandler, memoryState, Registry } from '../../../src/index.ts'
import { anthropic } from '../../../src/protocols/anthropic/plugin.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { listening } from '../models/listening.ts'

const { listens, last } = listening()

const lastHeard = () => last.heard

function serverOf(clientSystem: 'append' | 'ignore') {
  return createHandler({
    production: true,
    logger: false,
    registry: new Registry(),
    agents: { m: listens },
    state: memoryState(),
    runs: { clientSystem },
    plugins: [anthropic({ models: { m: 'm', 'claude-m': 'm' } })],
  })
}

const handler = serverOf('append')

/** Sends a body: gives what the agent heard, or the error. */
async function send(json: unknown, to = handler, path = 'messages') {
  delete last.heard
  const response = await to(new Request(`http://h/anthropic/v1/${path}`, jsonRequest(json)))
  const text = await response.text()
  const { error } = JSON.parse(text)
  return {
    status: response.status,
    text,
    error,
    heard: lastHeard(),
    headers: response.headers,
  }
}

const say = (messages: unknown, more: object = {}) => send({ model: 'm', max_tokens: 9, messages, ...more })
const user = (content: unknown) => ({ role: 'user', content })
const result = (id: string, content: unknown, more: object = {}) => ({
  ...{ type: 'tool_result', tool_use_id: id, content },
  ...more,
})
const called = (id: string) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name: 'f', input: { a: 1 } }],
})

const historyIn = ({ heard }: Awaited<ReturnType<typeof send>>) => heard?.options.history ?? []

describe('messages', () => {
  it('tell what is new, and what was said before', async () => {
    const told = await say(
      [
        user('one'),
        called('toolu_1'),
        user([result('toolu_1', '{"b":2}'), { type: 'text', text: 'and' }]),
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 'x' },
            { type: 'text', text: 'two' },
          ],
        },
        user('three'),
        user([{ type: 'text', text: 'four' }]),
      ],
      {
        system: [
          { type: 'text', text: 'x-anthropic-billing-header: a' },
          { type: 'text', text: 'Be brief' },
        ],
      },
    )
    expect(told.heard?.input).toEqual([
      { type: 'text', text: 'three' },
      { type: 'text', text: 'four' },
    ])
    expect(historyIn(told)).toMatchObject([
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: 'one' },
      { role: 'assistant', toolCalls: [{ toolCallId: 'toolu_1', toolName: 'f', args: { a: 1 } }] },
      { role: 'tool', toolCallId: 'toolu_1', toolName: 'f', result: '{"b":2}' },
      { role: 'user', content: 'and' },
      { role: 'assistant', content: 'two' },
    ])
  })

  it('may end with a message of the system', async () => {
    const told = await say([user('one'), { role: 'system', content: 'Note' }])
    expect(told.heard?.input).toBe('one')
    expect(historyIn(told)).toMatchObject([{ role: 'system', content: 'Note' }])
  })

  it('of the system reach no agent unless the service says so', async () => {
    const body = {
      model: 'm',
      messages: [user('one'), { role: 'system', content: 'Note' }],
      system: 'Be brief',
    }
    expect(historyIn(await send(body, serverOf('ignore')))).toEqual([])
  })

  it('have images and documents', async () => {
    const text = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'A note' } }
    const told = await say([
      user([
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
        { type: 'image', source: { type: 'url', url: 'https://h.example/i.png' } },
        {
          type: 'document',
          title: 'a.pdf',
          source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' },
        },
        text,
        { type: 'search_result', title: 't', source: 's', content: [{ type: 'text', text: 'found' }] },
        { type: 'tool_addition', tool: {} },
      ]),
    ])
    expect(told.error).toBeUndefined()
    expect(told.heard?.input).toEqual([
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'image', data: 'https://h.example/i.png', mimeType: 'image/*' },
      { type: 'file', data: 'aGk=', mimeType: 'application/pdf', filename: 'a.pdf' },
      { type: 'text', text: 'A note' },
      { type: 'text', text: 'found' },
    ])
  })

  it.each<[string, unknown[], string]>([
    [
      'a file that is only an id',
      [user([{ type: 'image', source: { type: 'file', file_id: 'f' } }])],
      'source.type',
    ],
    ['broken base64', [user([{ type: 'image', source: { type: 'base64', data: 'a b*' } }])], 'source.data'],
    ['an unknown block', [user([{ type: 'dance' }])], 'messages.0.content.0.type'],
    ['an unknown role', [{ role: 'robot', content: 'x' }], 'messages.0.role'],
    ['nothing of the user', [user('x'), { role: 'assistant', content: 'y' }], 'messages'],
    ['no messages', [], 'messages'],
    ['an empty message', [user('')], 'messages'],
    ['too many blocks', [user(Array(1001).fill({ type: 'text', text: 'x' }))], 'messages.0.content'],
  ])('with %s are refused before a run', async (_, messages, where) => {
    const { status, error, heard, headers } = await say(messages)
    expect([status, error?.type, heard]).toEqual([400, 'invalid_request_error', undefined])
    expect(error.message).toContain(where)
    expect(headers.get('x-should-retry')).toBe('false')
  })

  it('leave out unknown blocks and files that are gone of earlier messages', async () => {
    const told = await say([
      user([
        { type: 'dance' },
        { type: 'image', source: { type: 'file', file_id: 'f' } },
        { type: 'text', text: 'one' },
      ]),
      {
        role: 'assistant',
        content: [
          { type: 'mcp_tool_use', id: 'm', name: 'f', input: {} },
          { type: 'text', text: 'two' },
        ],
      },
      user('three'),
    ])
    expect(historyIn(told)).toMatchObject([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
    ])
  })

  it('may be out of order: a call without a result is left out, and so is a result without a call', async () => {
    const told = await say([
      user([result('toolu_9', 'x')]),
      called('toolu_1'),
      user('new'),
      user([result('toolu_8', 'y')]),
    ])
    expect([told.heard?.input, historyIn(told)]).toEqual(['new', []])
  })

  it('with a result for which nothing waits are history if the user says more, and else start nothing', async () => {
    const forged = `toolu_${'0'.repeat(32)}abc`
    for (const id of ['toolu_1', forged]) {
      const more = await say([
        user('one'),
        called(id),
        user([result(id, 'red', { is_error: true }), { type: 'text', text: 'go on' }]),
      ])
      expect(more.heard?.input).toBe('go on')
      expect(historyIn(more)).toMatchObject([
        { role: 'user' },
        { role: 'assistant' },
        { role: 'tool', result: { error: 'red' } },
      ])
      const alone = await say([user('one'), called(id), user([result(id, 'red')])])
      expect([alone.status, alone.error?.type, alone.heard]).toEqual([404, 'not_found_error', undefined])
    }
  })
})

describe('the fields beside the messages', () => {
  it('do no harm if they are unknown, and the agent can read them', async () => {
    const cache_control = { type: 'ephemeral' }
    const told = await say([user([{ type: 'text', text: 'x', cache_control }])], {
      ...{
        temperature: 2,
        thinking: { type: 'adaptive', display: 'omitted' },
        cache_control,
        stop_sequences: ['a'],
      },
      ...{
        context_management: { edits: [] },
        output_config: { effort: 'high' },
        betas: ['x'],
        thread: { type: 'create' },
      },
      ...{ metadata: { user_id: 'u' }, mcp_servers: [], container: null, tool_choice: null },
      system: [{ type: 'text', text: 'Be brief', cache_control }],
      tools: [
        {
          name: 'f',
          description: 'd',
          input_schema: { type: 'object' },
          cache_control,
          eager_input_streaming: true,
        },
        { type: 'custom', name: 'g', input_schema: { type: 'object' }, defer_loading: true },
        { type: 'web_search_20260318', name: 'web_search' },
      ],
    })
    expect(told.heard?.options.clientTools?.map(({ name }) => name)).toEqual(['f', 'g'])
    const { anthropic: facts } = Object(told.heard?.options.metadata)
    expect(facts).toMatchObject({ temperature: 2, metadata: { user_id: 'u' } })
    expect(facts).not.toHaveProperty('messages')
    expect(facts).not.toHaveProperty('system')
  })

  it.each<[string, object, number]>([
    ['a tool that must be called', { tools: [{ name: 'f' }], tool_choice: { type: 'any' } }, 400],
    ['an unknown choice', { tool_choice: { type: 'maybe' } }, 400],
    ['a schema', { output_config: { format: { type: 'json_schema', schema: {} } } }, 400],
    ['more tools than a request may have', { tools: Array(10_000).fill({ name: 'f' }) }, 400],
    [
      'more tools than an agent takes',
      { tools: Array.from({ length: 129 }, (_, at) => ({ name: `f${at}` })) },
      400,
    ],
    ['a model that is not there', { model: 'nobody' }, 404],
    ['a model that is no text', { model: 5 }, 400],
  ])('are refused with %s', async (_, more, status) => {
    const told = await say([user('x')], more)
    expect([told.status, told.heard]).toEqual([status, undefined])
    expect(told.error).toMatchObject({
      type: expect.stringMatching(/_error$/),
      details: { error_code: expect.any(String) },
    })
  })

  it('`tool_choice: none` leaves the tools out', async () => {
    const told = await say([user('x')], { tools: [{ name: 'f' }], tool_choice: { type: 'none' } })
    expect(told.heard?.options.clientTools).toBeUndefined()
  })

  it('that leave the conversation to a thread are refused with the code after which the client sends all of it', async () => {
    const told = await say([user('x')], { thread: { type: 'continue', previous_message_id: 'msg_1' } })
    expect([told.status, told.error.details]).toEqual([
      400,
      { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    ])
  })
})

describe('counting', () => {
  it('starts no run', async () => {
    const body = { model: 'claude-m', messages: [user('x'.repeat(400))], tools: null }
    const { status, text, heard } = await send(body, handler, 'messages/count_tokens')
    expect([status, heard]).toEqual([200, undefined])
    expect(JSON.parse(text).input_tokens).toBeGreaterThan(100)
    expect((await send({ ...body, model: 'nobody' }, handler, 'messages/count_tokens')).status).toBe(404)
  })
})

const odd = fc.constantFrom<unknown>(
  null,
  5,
  true,
  '',
  'x',
  [],
  {},
  [null],
  { type: 'text' },
  JSON.parse('{"__proto__":{"a":1}}'),
)
const texts = fc.constantFrom(
  'user',
  'assistant',
  'system',
  'text',
  'image',
  'document',
  'tool_use',
  'tool_result',
  'base64',
  'url',
  'toolu_1',
  'aGk=',
)
const value = fc.letrec(tie => ({
  any: fc.oneof({ depthSize: 'small' }, odd, texts, fc.array(tie('block'), { maxLength: 3 }), tie('block')),
  block: fc.dictionary(
    fc.constantFrom(
      'type',
      'text',
      'source',
      'content',
      'id',
      'name',
      'input',
      'tool_use_id',
      'is_error',
      'data',
      'url',
      'role',
    ),
    tie('any'),
    { maxKeys: 5 },
  ),
})).any

describe('a body of anything', () => {
  it('is heard, or refused', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ role: fc.oneof(texts, odd), content: value }), { maxLength: 4 }),
        fc.dictionary(
          fc.constantFrom('system', 'tools', 'tool_choice', 'thinking', 'thread', 'stream', 'output_config'),
          value,
          { maxKeys: 3 },
        ),
        async (messages, more) => {
          const { status, heard, text } = await say(messages, { ...more, stream: false })
          expect([200, 400, 404], text).toContain(status)
          expect(heard !== undefined).toBe(status === 200)
        },
      ),
      { numRuns: 2000 },
    ))
})
