/** Bodies and paths that no page sends, and runs that take too long. */
import { describe, expect, it } from 'vitest'
import { type HandlerOptions, memoryState } from '../../../src/index.ts'
import { CLIENTS, inProcess, open } from '../../contracts/ai-sdk-ui/clients.ts'
import { last, post, said } from '../../contracts/ai-sdk-ui/page.ts'
import { handlerOn } from '../../contracts/ai-sdk-ui/service.ts'

const serviceWith = (more: HandlerOptions = {}) =>
  handlerOn(memoryState(), 'leave', { logger: false, ...more })
const handler = serviceWith()

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
const user = (rest: object) => ({ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'x' }], ...rest })
const chat = (...messages: unknown[]) => JSON.stringify({ id: 'c1', trigger: 'submit-message', messages })

const BODIES: readonly [name: string, body: string][] = [
  ['nothing', ''],
  ['no JSON', '{"id":'],
  ['a list', '[]'],
  ['null', 'null'],
  ['no chat', '{}'],
  ['no messages', '{"id":"c1"}'],
  ['an empty list of messages', chat()],
  ['a chat without an id', JSON.stringify({ id: '', messages: [user({})] })],
  ['a chat with a long id', JSON.stringify({ id: 'c'.repeat(501), messages: [user({})] })],
  ['a message without an id', chat(user({ id: undefined }))],
  ['a message of nobody', chat(user({ role: 'tool' }))],
  ['a message of the system at the end', chat(user({ role: 'system' }))],
  ['a message without parts', chat(user({ parts: undefined }))],
  ['parts that are text', chat(user({ parts: 'hello' }))],
  ['a part that is text', chat(user({ parts: ['hello'] }))],
  ['an empty message', chat(user({ parts: [] }))],
  ['an answer to nothing', chat(user({}), { id: 'a1', role: 'assistant', parts: [] })],
  ['nested lists', chat(user({ parts: JSON.parse(nested(150)) }))],
  ['lists that are nested too deep', `{"id":"c1","messages":${nested(6000)}}`],
  ['metadata that are nested too deep', `{"id":"c1","messages":[{"id":"u1","metadata":${nested(6000)}}]}`],
  ['a body that is too large', chat(user({ parts: [{ type: 'text', text: 'x'.repeat(1_048_576) }] }))],
  ['tools that are none', JSON.stringify({ id: 'c1', messages: [user({})], clientTools: [{ name: '' }] })],
]

describe('a chat that is asked with', () => {
  it.each(BODIES)('%s is refused as text that a page may show', async (_, body) => {
    const headers = { 'content-type': 'application/json' }
    const request = new Request('http://127.0.0.1/api/agents/says/chat', { method: 'POST', body, headers })
    const answer = await handler(request)
    expect([400, 404, 413, 422]).toContain(answer.status)
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(answer.headers.get('x-error-code')).toMatch(/^[a-z_]+$/)
    const text = await answer.text()
    expect(text).not.toBe('')
    expect(text.length).toBeLessThan(1000)
    expect(text).not.toMatch(/^\s*\{/)
  })

  it.each([
    'POST /api/agents/nobody/chat',
    'POST /api/teams/says/chat',
    'GET /api/agents/nobody/chat/c1/stream',
    'POST /api/agents/nobody/chat/c1/stop',
    `GET /api/agents/says/chat/${'c'.repeat(501)}/stream`,
  ])('%s is refused as text', async place => {
    const [method = '', path] = place.split(' ')
    const init = method === 'POST' ? post({ id: 'c1', messages: [user({})] }) : { method }
    const answer = await handler(new Request(`http://127.0.0.1${path}`, init))
    expect([400, 404]).toContain(answer.status)
    expect(await answer.text()).not.toMatch(/^\s*\{/)
  })

  it('another type than JSON is refused as text', async () => {
    const init = { method: 'POST', body: chat(user({})), headers: { 'content-type': 'text/plain' } }
    const answer = await handler(new Request('http://127.0.0.1/api/agents/says/chat', init))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      415,
      expect.stringMatching(/^text\/plain/),
    ])
  })
})

describe.each(CLIENTS)('a chat of AI SDK $version', client => {
  it('ends with an error where its run takes too long, and keeps what was said', async () => {
    const brief = inProcess(serviceWith({ runs: { timeoutMs: 100 } }))
    const opened = open(client, brief, 'agents/waits')
    await opened.chat.sendMessage({ text: crypto.randomUUID() })
    expect([opened.chat.status, opened.chat.error?.message]).toEqual(['error', 'Internal server error'])
    expect(said(last(opened.chat))).toEqual(['I wait. '])
    expect(last(opened.chat)?.metadata).toMatchObject({ errorCode: 'run_timeout' })
  })
})

describe('an error that middleware makes', () => {
  it.each([
    ['{"detail":"Not today","code":"forbidden"}', 'Not today', 'forbidden'],
    ['{"detail":7}', '', null],
    ['null', '', null],
    ['no JSON', '', null],
    ['', '', null],
  ])('is its text, whatever it is: %j', async (problem, text, code) => {
    const refusing = serviceWith({
      middleware: [
        () => new Response(problem, { status: 403, headers: { 'content-type': 'application/problem+json' } }),
      ],
    })
    const answer = await refusing(new Request('http://127.0.0.1/api/agents/says/chat', post({})))
    expect([answer.status, await answer.text(), answer.headers.get('x-error-code')]).toEqual([
      403,
      text,
      code,
    ])
    expect(answer.headers.get('content-type')).toBe('text/plain;charset=utf-8')
  })
})
