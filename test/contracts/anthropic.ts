/** What holds of Anthropic's interface, on every store and runtime. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { readMessage, type StreamedMessage, textOf } from '../protocols/anthropic/message-stream.ts'
import type { Deploy } from '../runtimes/deployments.ts'
import { tokenOf } from './anthropic/service.ts'
import { expectNothingInternal, jsonRequest } from './http/client.ts'
import { own, type Server, withoutComments } from './runs/client.ts'
import { served } from './served.ts'

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it has asked for
  readonly json: any
}

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })
const tool = (name: string) => ({ name, input_schema: { type: 'object' } })
const result = (tool_use_id: string, content: unknown, more: object = {}) => ({
  ...{ type: 'tool_result', tool_use_id, content },
  ...more,
})

interface Block {
  readonly type: string
  readonly id: string
  readonly [member: string]: unknown
}

export function anthropicContract(deploy: Deploy): void {
  const server = served(() => deploy('usual'))
  anthropicCases(server)
}

export function anthropicCases(server: Server): void {
  const ada = own('ada')

  const ask = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(`${server().url}/anthropic/v1/${path}`, init)
    const text = withoutComments(await response.text())
    expectNothingInternal(text.replace(/"created_at":"[^"]+"/g, ''))
    const { status, headers } = response
    expect(headers.get('request-id')).toBe(headers.get('x-request-id'))
    const isJson = headers.get('content-type')?.startsWith('application/json')
    return { status, headers, text, json: isJson ? JSON.parse(text) : undefined }
  }

  /** Asks for a message, with the token in `x-api-key`. */
  const send = (model: string, messages: unknown, more: object = {}, who = ada) =>
    ask('messages', jsonRequest({ model, max_tokens: 9, messages, ...more }, { 'x-api-key': tokenOf(who) }))

  const stream = async (model: string, messages: unknown, more: object = {}): Promise<StreamedMessage> => {
    const { text, headers } = await send(model, messages, { ...more, stream: true })
    expect(headers.get('content-type')).toContain('text/event-stream')
    return readMessage(text)
  }

  const said = async (asked: Promise<Answer>) => {
    const { status, text, json } = await asked
    expect(status, text).toBe(200)
    return textOf(json.content)
  }

  const expectError = ({ status, json, text, headers }: Answer, expected: [number, string, string]) => {
    expect([status, json?.error?.type, json?.error?.details.error_code], text).toEqual(expected)
    expect(json).toMatchObject({ type: 'error', request_id: headers.get('request-id') })
  }

  /** What has become of the run with an input. */
  const fateOf = (input: string) => said(send('tells', [user(input)]))

  describe('a message', () => {
    it('has what the run says: whole, and as a stream', async () => {
      const { json, headers } = await send('talks', [user('hi')])
      expect(json).toMatchObject({
        ...{
          type: 'message',
          role: 'assistant',
          model: 'talks',
          stop_reason: 'end_turn',
          stop_sequence: null,
        },
        usage: { input_tokens: 3, output_tokens: 4 },
        content: [
          { type: 'thinking', thinking: 'Let me see.' },
          { type: 'text', text: 'You said hi. ' },
          { type: 'mcp_tool_use', name: 'add', server_name: 'servable', input: { a: 1, b: 2 } },
          { type: 'mcp_tool_result', is_error: false, content: [{ type: 'text', text: '{"sum":3}' }] },
          { type: 'text', text: 'It is 3.' },
        ],
      })
      expect(headers.get('x-run-id')).toMatch(/^[\da-f-]{36}$/)
      const { content, stop_reason } = await stream('talks', [user('hi')])
      const withoutIds = (blocks: readonly object[]) =>
        blocks.map(block => ({ ...block, id: undefined, tool_use_id: undefined }))
      expect([withoutIds(content), stop_reason]).toEqual([withoutIds(json.content), 'end_turn'])
      const silent = await stream('talks', [user('hi')], { thinking: { type: 'disabled' } })
      expect(silent.content[0]).toMatchObject({ type: 'text' })
    })

    it('goes on from what the client remembers', async () => {
      const messages = [user('one'), assistant([{ type: 'text', text: 'two' }]), user('three')]
      expect(await said(send('recalls', messages))).toBe('u:one|a:two > three in none')
    })

    it('is the structured output for the tool that must be called', async () => {
      const tools = [tool('extract')]
      const { json } = await send('weighs', [user('x')], {
        tools,
        tool_choice: { type: 'tool', name: 'extract' },
      })
      expect([json.content, json.stop_reason]).toMatchObject([
        [{ type: 'tool_use', name: 'extract', input: { grams: 12 } }],
        'tool_use',
      ])
      const format = { type: 'json_schema', schema: {} }
      expect(await said(send('weighs', [user('x')], { output_config: { format } }))).toBe('{"grams":12}')
      const refused = await send('talks', [user('x')], { tools, tool_choice: { type: 'any' } })
      expectError(refused, [400, 'invalid_request_error', 'invalid_body'])
    })

    it('of a run that fails is an error, and in a stream its last event', async () => {
      const input = own('failing')
      const failed = await send('fails', [user(input)])
      expectError(failed, [500, 'api_error', 'agent_failed'])
      expect(failed.headers.get('x-should-retry')).toBe('false')
      const { content, error } = await stream('fails', [user(input)])
      expect([textOf(content), error?.type]).toEqual(['Half', 'api_error'])
      expect(await fateOf(input)).toBe('2')
    })

    it('asks as text for what a person has to decide', async () => {
      expect(await said(send('pays', [user('5')]))).toBe('I pay. \n\nApprove `pay`: {"amount":5}')
    })
  })

  describe('a tool of the client', () => {
    const tools = [tool('pick'), tool('mix')]
    const asked = async () => {
      const { json, headers } = await send('paints', [user('x')], { tools })
      expect(json.stop_reason).toBe('tool_use')
      const calls = json.content as Block[]
      expect(calls).toMatchObject([
        { type: 'tool_use', name: 'pick', input: { hue: 'warm' } },
        { type: 'tool_use', name: 'mix' },
      ])
      return { calls, runId: headers.get('x-run-id') }
    }
    const goOn = (calls: readonly Block[], results: unknown, who?: string, model = 'paints') =>
      send(model, [user('x'), assistant(calls), user(results)], { tools }, who)

    it('is called by a run, which goes on with all results', async () => {
      const { calls } = await asked()
      const [pick, mix] = calls as [Block, Block]
      const results = [result(pick.id, '{"a":1}'), result(mix.id, [{ type: 'text', text: 'red' }])]
      expectError(await goOn(calls, [results[0]]), [400, 'invalid_request_error', 'invalid_body'])
      const forged = [result(`${pick.id}0`, 'x'), result(`${mix.id}0`, 'x')]
      expectError(await goOn(calls, forged), [404, 'not_found_error', 'request_not_found'])
      expectError(await goOn(calls, results, own('eve')), [404, 'not_found_error', 'run_not_found'])
      const done = await goOn(calls, results)
      expect(await said(Promise.resolve(done))).toBe('Given [{"a":1},"red"]')
      const again = [results[0], result(mix.id, 'blue')]
      expectError(await goOn(calls, again), [409, 'conflict_error', 'already_answered'])
    })

    it('is called in a stream', async () => {
      const { content, stop_reason } = await stream('paints', [user('x')], { tools: [tool('pick')] })
      expect([content, stop_reason]).toMatchObject([
        [{ type: 'tool_use', input: { hue: 'warm' } }],
        'tool_use',
      ])
    })

    it('may fail, show an image, and have what the user says beside it', async () => {
      const { calls } = await asked()
      const [pick, mix] = calls as [Block, Block]
      const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }
      const results = [
        result(pick.id, 'It broke', { is_error: true }),
        { type: 'text', text: 'Hurry' },
        result(mix.id, [image]),
      ]
      const messages = [user('x'), assistant(calls), user(results), { role: 'system', content: 'Note' }]
      const heard = await said(send('paints', messages, { tools }))
      expect(JSON.parse(heard.slice('Given '.length))).toEqual([
        { error: 'It broke' },
        [
          { type: 'image', data: 'aGk=', mimeType: 'image/png' },
          { type: 'text', text: 'Hurry' },
          { type: 'text', text: 'Note' },
        ],
      ])
    })

    it('that somebody else asked for starts a run of the caller alone, if at all', async () => {
      const { calls } = await asked()
      const [pick, mix] = calls as [Block, Block]
      const eve = own('eve')
      const results = [result(pick.id, 'red'), result(mix.id, 'red'), { type: 'text', text: 'y' }]
      expect(await said(goOn(calls, results, eve, 'recalls'))).toBe('u:x|a:|t:-|t:- > y in none')
      // The run still waits for its own caller.
      expect(await said(goOn(calls, [result(pick.id, 'a'), result(mix.id, 'b')]))).toBe('Given ["a","b"]')
      // Its caller may say something new to a run that has gone on.
      expect((await goOn(calls, results)).json).toMatchObject({ stop_reason: 'tool_use' })
    })
  })

  describe('a caller', () => {
    it('is who the token says, in either header', async () => {
      const tools = [tool('pick')]
      const { json } = await send('paints', [user('x')], { tools })
      const [call] = json.content as [Block]
      const messages = [user('x'), assistant([call]), user([result(call.id, 'red')])]
      const body = { model: 'paints', messages, tools }
      const bearer = await ask('messages', jsonRequest(body, { authorization: `Bearer ${tokenOf(ada)}` }))
      expect(textOf(bearer.json.content)).toBe('Given ["red"]')
      for (const headers of [{}, { 'x-api-key': 'wrong' }, { authorization: 'Bearer wrong' }])
        expectError(await ask('messages', jsonRequest(body, headers as Record<string, string>)), [
          ...([401, 'authentication_error', 'unauthorized'] as const),
        ])
    })

    it('that leaves a stream stops its run', async () => {
      const input = own('left')
      const leaving = new AbortController()
      const body = { model: 'chatters', messages: [user(input)], stream: true }
      const init = { ...jsonRequest(body, { 'x-api-key': tokenOf(ada) }), signal: leaving.signal }
      const response = await fetch(`${server().url}/anthropic/v1/messages?beta=true`, init)
      const reader = response.body!.getReader()
      const decoder = new TextDecoder()
      for (let text = ''; !text.includes('First '); ) {
        const { value, done } = await reader.read()
        expect(done).toBe(false)
        text += decoder.decode(value, { stream: true })
      }
      leaving.abort()
      await eventually(async () => expect(await fateOf(input)).toBe('stopped'))
    })

    it('sees models, and counts tokens without a run', async () => {
      const headers = { 'x-api-key': tokenOf(ada), 'anthropic-version': '2026-10-21' }
      const { json } = await ask('models?limit=1000', { headers })
      expect(json).toMatchObject({
        has_more: false,
        data: expect.arrayContaining([expect.objectContaining({ id: 'talks' })]),
      })
      expect((await ask('models/talks', { headers })).json).toMatchObject({ type: 'model', id: 'talks' })
      expectError(await ask('models/nobody', { headers }), [404, 'not_found_error', 'agent_not_found'])
      const input = own('counted')
      const counted = await ask(
        'messages/count_tokens',
        jsonRequest({ model: 'counting', messages: [user(input)] }, headers),
      )
      expect(counted.json).toEqual({ input_tokens: expect.any(Number) })
      expect(await fateOf(input)).toBe('unknown')
    })

    it('that sends too much is told so', async () => {
      const answer = await send('talks', [user('x'.repeat(2 * 1024 * 1024))])
      expectError(answer, [413, 'request_too_large', 'body_too_large'])
    })
  })
}
