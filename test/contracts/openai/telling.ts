/** What is told, in both interfaces, and how errors look. */
import { describe, expect, it } from 'vitest'
import { own, type Server } from '../runs/client.ts'
import { chunksIn, expectError, get, itemsIn, kept, respond, said, send, streamed } from './client.ts'

const user = (content: unknown) => ({ role: 'user', content })

export function tellingCases(server: Server): void {
  describe('models', () => {
    it('are listed, and found by their names', async () => {
      const { data, object } = (await get(server, 'models')).json
      expect(object).toBe('list')
      const ids = data.map(({ id }: { id: string }) => id)
      expect(ids).toEqual(expect.arrayContaining(['talks', 'desk', 'team/desk']))
      for (const id of ['talks', 'team/desk']) {
        const { json } = await get(server, `models/${encodeURIComponent(id)}`)
        expect(json).toEqual(data.find((model: { id: string }) => model.id === id))
      }
    })

    it('that are not served are told in OpenAI’s form, as is all that is not', async () => {
      const { param } = expectError(await get(server, 'models/none'), [404, 'model_not_found'])
      expect(param).toBe('model')
      for (const [path, body] of [
        ['chat/completions', { messages: [user('x')] }],
        ['responses', { input: 'x' }],
      ] as const)
        expectError(await send(server, path, { model: '__proto__', ...body }), [404, 'model_not_found'])
      for (const path of ['embeddings', 'conversations', 'files', 'responses/x/compact'])
        expectError(await send(server, path, {}), [404, 'not_found'])
      for (const path of ['chat/completions', 'responses'])
        expectError(await get(server, path), [405, 'method_not_allowed'])
    })
  })

  describe('a chat completion', () => {
    const ask = (body: object) => send(server, 'chat/completions', { messages: [user('hello')], ...body })

    it('has text, thoughts and usage, and no tool of the server', async () => {
      const { json, headers } = await ask({ model: 'talks' })
      expect(json).toEqual({
        ...{ id: `chatcmpl-${headers.get('x-run-id')}`, object: 'chat.completion' },
        ...{ created: expect.any(Number), model: 'talks' },
        choices: [
          {
            index: 0,
            message: {
              ...{ role: 'assistant', content: 'You said hello. It is 3.', reasoning_content: 'Let me see.' },
              refusal: null,
            },
            ...{ logprobs: null, finish_reason: 'stop' },
          },
        ],
        usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
      })
    })

    it('comes as chunks', async () => {
      const { text } = await ask({ model: 'talks', stream: true, stream_options: { include_usage: true } })
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
      const chunks = chunksIn(text)
      const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }: { delta: object }) => delta))
      expect(deltas).toEqual([
        { role: 'assistant', content: '' },
        { reasoning_content: 'Let me see.' },
        ...['You said ', 'hello. ', 'It is 3.'].map(content => ({ content })),
        {},
      ])
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 7 } })
    })

    it('is JSON for who asks for it, of a model that gives some', async () => {
      const format = { response_format: { type: 'json_schema', json_schema: { name: 'w', schema: {} } } }
      const { json } = await ask({ model: 'weighs', ...format })
      expect(json.choices[0].message.content).toBe('{"grams":12}')
      const { param } = expectError(await ask({ model: 'talks', ...format }), [400, 'invalid_body'])
      expect(param).toBe('response_format')
    })

    it('takes any member that it does not know, and null for any that is optional', async () => {
      const names = [
        'n',
        'stream',
        'stream_options',
        'tools',
        'tool_choice',
        'response_format',
        'user',
        'metadata',
      ]
      const nulls = Object.fromEntries(names.map(name => [name, null]))
      const unknown = {
        temperature: 'hot',
        seed: [],
        functions: {},
        x: { y: 1 },
        constructor: 1,
        max_tokens: -1,
      }
      const { status, text } = await ask({ model: 'talks', ...nulls, ...unknown })
      expect(status, text).toBe(200)
    })

    it.each([
      ['n', { n: 2 }],
      ['tool_choice', { tool_choice: 'required', tools: [] }],
      ['messages', { messages: [] }],
      ['messages', { messages: [user('x'), { role: 'assistant', content: 'y' }] }],
      ['messages.0.content.0', { messages: [user([{ type: 'file', file: { file_id: 'f' } }])] }],
      ['stream', { stream: 'yes' }],
    ])('refuses what it cannot do, and names it: %s', async (name, body) => {
      const { param, type } = expectError(await ask({ model: 'talks', ...body }), [400, 'invalid_body'])
      expect([param, type]).toEqual([name, 'invalid_request_error'])
    })

    it('takes a megabyte of messages, of which it tells the newest', async () => {
      const messages = Array.from({ length: 4000 }, (_, at) => ({
        role: at % 2 === 0 ? 'user' : 'assistant',
        content: `${at} ${'x'.repeat(250)}`,
      }))
      const { json } = await ask({ model: 'recalls', messages: [...messages, user('now')] })
      expect(json.choices[0].message.content).toMatch(/\|1000\|.*u:3998 x+\|a:3999 x+ > now in none$/)
    })
  })

  describe('a response', () => {
    it('is the same as JSON, as a stream, when it is read again, and when it is told again', async () => {
      const whole = await respond(server, 'talks', 'hello', { metadata: { a: 'b' } })
      expect(whole).toMatchObject({ status: 'completed', metadata: { a: 'b' }, usage: { total_tokens: 7 } })
      expect(whole.output).toMatchObject([
        { type: 'reasoning', summary: [{ text: 'Let me see.' }] },
        { type: 'message', content: [{ text: 'You said hello. ' }] },
        { type: 'mcp_call', name: 'add', arguments: '{"a":1,"b":2}', output: '{"sum":3}' },
        { type: 'message', content: [{ text: 'It is 3.' }] },
      ])
      expect(await kept(server, whole.id)).toEqual(whole)
      const { response, text } = await streamed(server, 'talks', 'hello', { metadata: { a: 'b' } })
      expect(await kept(server, response.id)).toEqual(response)
      const { text: again } = await get(server, `responses/${response.id}?stream=true`)
      expect(again).toBe(text)
    })

    it('is told after any of its events', async () => {
      const { response, text } = await streamed(server, 'talks', 'hello')
      const messages = text.split('\n\n')
      for (const after of [0, 5, messages.length - 4]) {
        const { text: rest } = await get(
          server,
          `responses/${response.id}?stream=true&starting_after=${after}`,
        )
        expect(rest).toBe(messages.slice(after + 1).join('\n\n'))
      }
      for (const after of ['999999999999999', `${messages.length - 3}`]) {
        const { status, text } = await get(
          server,
          `responses/${response.id}?stream=true&starting_after=${after}`,
        )
        expect([status, text]).toEqual([200, ''])
      }
      for (const after of ['x', '1.5', '9'.repeat(400), '1e3', ''])
        expectError(await get(server, `responses/${response.id}?stream=true&starting_after=${after}`), [
          ...([400, 'invalid_query'] as const),
        ])
    })

    it('is JSON for who asks for it, of a model that gives some', async () => {
      const text = { format: { type: 'json_object' } }
      const { response } = await streamed(server, 'weighs', 'x', { text })
      expect(said(response)).toBe('{"grams":12}')
      const { param } = expectError(await send(server, 'responses', { model: 'talks', input: 'x', text }), [
        ...([400, 'invalid_body'] as const),
      ])
      expect(param).toBe('text.format')
    })

    it('takes any member that it does not know, and null for any that is optional', async () => {
      const nulls = Object.fromEntries(
        [
          ...[
            'stream',
            'tools',
            'tool_choice',
            'instructions',
            'previous_response_id',
            'conversation',
            'store',
          ],
          ...['background', 'metadata', 'text', 'user', 'include', 'reasoning'],
        ].map(name => [name, null]),
      )
      const unknown = {
        temperature: 'hot',
        truncation: [],
        x: { y: 1 },
        constructor: 1,
        max_output_tokens: -1,
      }
      expect(await respond(server, 'talks', 'x', { ...nulls, ...unknown })).toMatchObject({
        ...{ status: 'completed', instructions: null, metadata: {}, store: true, tool_choice: 'auto' },
      })
    })

    it('has its input as items', async () => {
      const input = [
        user('one'),
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'two' }] },
        { type: 'reasoning', id: 'rs_1', summary: [] },
        user([{ type: 'input_text', text: 'three' }]),
      ]
      const { id } = await respond(server, 'recalls', input)
      const { json } = await get(server, `responses/${id}/input_items?order=asc`)
      expect(json).toMatchObject({ object: 'list', has_more: false })
      expect(json.data).toMatchObject([
        { role: 'user', content: [{ text: 'one' }] },
        { role: 'assistant', content: [{ text: 'two' }] },
        { type: 'reasoning', id: 'rs_1' },
        { role: 'user', content: [{ text: 'three' }] },
      ])
      expect([json.first_id, json.last_id]).toEqual([json.data[0].id, json.data[3].id])
      const { json: newest } = await get(server, `responses/${id}/input_items`)
      expect(newest.data).toEqual(json.data.toReversed())
    })
  })

  describe('a run that fails', () => {
    it('is run once, and is not to be tried again', async () => {
      const word = own('failing')
      const messages = [user(word)]
      const inputs = [
        ['chat/completions', { model: 'fails', messages }],
        ['responses', { model: 'fails', input: word }],
        ['responses', { model: 'fails', input: word, store: false }],
      ] as const
      for (const [path, body] of inputs) expectError(await send(server, path, body), [500, 'agent_failed'])
      const { text } = await send(server, 'chat/completions', { model: 'fails', messages, stream: true })
      expect(chunksIn(text).at(-1)).toMatchObject({ error: { type: 'server_error', code: 'agent_failed' } })
      expect(text).not.toContain('[DONE]')
      const { response } = await streamed(server, 'fails', word)
      expect(response).toMatchObject({ status: 'failed', error: { code: 'agent_failed' } })
      expect(itemsIn(response.output, 'message')).toHaveLength(1)
      expect(await kept(server, response.id)).toEqual(response)
      const times = await send(server, 'responses', { model: 'tells', input: word })
      expect(said(times.json)).toBe('5')
    })
  })
}
