/** Speaks to the service as clients of MCP do: in revision 2026-07-28, and in those before it. */
import { expect } from 'vitest'
import { eventually } from '../../eventually.ts'
import { expectNothingInternal, jsonRequest, run } from '../http/client.ts'
import { type Fields, type Server, withoutComments } from '../runs/client.ts'

export const MODERN = '2026-07-28'
export const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26'] as const

const PREFIX = 'io.modelcontextprotocol/'

/** What clients can do. */
export const FORMS = { elicitation: { form: {} } }
export const TASKS = { extensions: { [`${PREFIX}tasks`]: {} } }

// biome-ignore lint/suspicious/noExplicitAny: each test knows what it has asked for
export type Json = any

/** An answer: the messages of its stream, or the one of its JSON. */
export interface Told {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly messages: readonly Json[]
  /** The last of them. */
  readonly json: Json
}

/** How something is asked. */
export interface Asked {
  readonly id?: unknown
  readonly headers?: Fields
  readonly accept?: string
  /** What the client can do. */
  readonly can?: object
  /** More of `_meta`. */
  readonly meta?: object
  /** More of the parameters. */
  readonly params?: object
  readonly signal?: AbortSignal
}

const BOTH = 'application/json, text/event-stream'

/** Sends a body to the endpoint. */
export function send(server: Server, body: unknown, { headers, accept = BOTH, signal }: Asked = {}) {
  return fetch(`${server().url}/mcp`, {
    ...jsonRequest(body, { accept, ...headers }),
    ...(signal && { signal }),
  })
}

/** A request of the newest revision. */
export function ask(server: Server, method: string, params: object = {}, asked: Asked = {}) {
  const { id = 1, can = {}, meta, headers } = asked
  const { name, uri, taskId = name ?? uri } = params as Readonly<Record<string, string>>
  const _meta = {
    [`${PREFIX}protocolVersion`]: MODERN,
    [`${PREFIX}clientCapabilities`]: can,
    ...meta,
  }
  return send(
    server,
    { jsonrpc: '2.0', id, method, params: { ...params, ...asked.params, _meta } },
    {
      ...asked,
      headers: {
        'mcp-protocol-version': MODERN,
        'mcp-method': method,
        ...(taskId !== undefined && { 'mcp-name': taskId }),
        ...headers,
      },
    },
  )
}

/** Reads an answer to its end. */
export async function told(response: Response | Promise<Response>): Promise<Told> {
  const { status, headers, ...rest } = await read(await response)
  expectNothingInternal(rest.text.replace(/"\d{4}-\d\d-\d\dT[^"]+"/g, ''))
  expect(headers.get('x-request-id')).toBeTruthy()
  return { status, headers, ...rest, json: rest.messages.at(-1) }
}

async function read(response: Response): Promise<Omit<Told, 'json'>> {
  const { status, headers } = response
  const text = withoutComments(await response.text())
  const isStream = headers.get('content-type')?.startsWith('text/event-stream')
  const all = isStream ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data) : [text]
  return { status, headers, text, messages: all.filter(Boolean).map(data => JSON.parse(data)) }
}

/** The result of a request of the newest revision. */
export async function resultOf(
  server: Server,
  method: string,
  params: object = {},
  asked: Asked = {},
): Promise<Json> {
  const { status, text, json } = await told(ask(server, method, params, asked))
  expect([status, json?.id], text).toEqual([200, asked.id ?? 1])
  expect(json.result, text).toMatchObject({
    resultType: expect.stringMatching(/^(complete|input_required|task)$/),
    _meta: { [`${PREFIX}serverInfo`]: { name: 'contract', version: '7' } },
  })
  return json.result
}

/** What is called: a tool, with arguments or with the text for it. */
export function callOf(name: string, args: string | object = 'x') {
  return { name, arguments: typeof args === 'string' ? { input: args } : args }
}

/** Calls a tool. */
export function call(server: Server, name: string, args?: string | object, asked?: Asked): Promise<Json> {
  return resultOf(server, 'tools/call', callOf(name, args), asked)
}

/** The text of a result of a tool. */
export function said({ content }: { readonly content: readonly Json[] }): string {
  return content.flatMap(({ type, text }) => (type === 'text' ? [text] : [])).join('\n')
}

/** An error as `[status, code]`, with what it says. */
export function expectError(
  { status, json, text }: Told,
  expected: readonly [status: number, code: number],
  id: unknown = 1,
): { readonly message: string; readonly data?: Json } {
  expect([status, json?.error?.code, json?.id, json?.jsonrpc], text).toEqual([...expected, id, '2.0'])
  expect(json.error.message).toMatch(/./)
  expect(json).not.toHaveProperty('result')
  return json.error
}

/** A call that fails. */
export async function expectRefused(
  server: Server,
  params: { readonly name: string; readonly arguments: object },
  expected: readonly [status: number, code: number],
  asked: Asked = {},
) {
  return expectError(await told(ask(server, 'tools/call', params, asked)), expected)
}

/** A client of a revision that has sessions. */
export interface Session {
  readonly id: string
  send(body: object, asked?: Asked): Promise<Response>
  ask(method: string, params?: object, asked?: Asked): Promise<Response>
  call(name: string, args?: string | object, asked?: Asked): Promise<Response>
}

/** Begins a session. */
export async function begin(
  server: Server,
  revision: string = LEGACY[0],
  capabilities: object = {},
  identity: Fields = {},
): Promise<Session> {
  const clientInfo = { name: 'test', version: '1' }
  const params = { protocolVersion: revision, capabilities, clientInfo }
  const body = { jsonrpc: '2.0', id: 0, method: 'initialize', params }
  const { status, json, headers } = await told(send(server, body, { headers: identity }))
  expect([status, json.result.protocolVersion]).toEqual([200, revision])
  const id = headers.get('mcp-session-id') ?? ''
  const own = {
    'mcp-session-id': id,
    // Clients of the first revision send none.
    ...(revision !== '2025-03-26' && { 'mcp-protocol-version': revision }),
    ...identity,
  }
  const session: Session = {
    id,
    send: (message, asked = {}) => send(server, message, { ...asked, headers: { ...own, ...asked.headers } }),
    ask: (method, params = {}, asked = {}) => {
      const { id: requestId = 1, meta } = asked
      const all = { ...params, ...asked.params, ...(meta && { _meta: meta }) }
      return session.send({ jsonrpc: '2.0', id: requestId, method, params: all }, asked)
    },
    call: (name, args, asked) => session.ask('tools/call', callOf(name, args), asked),
  }
  const begun = await session.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  expect([begun.status, await begun.text()]).toEqual([202, ''])
  return session
}

/** A stream as it comes. */
export interface Hearing {
  /** The next message; undefined at the end. */
  next(): Promise<Json>
  /** The messages that are left. */
  rest(): Promise<readonly Json[]>
}

/** Reads a stream message by message. */
export async function hear(asked: Promise<Response>): Promise<Hearing> {
  const response = await asked
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  const reader = response.body!.pipeThrough(
    new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>,
  )
  const pieces = reader.getReader()
  let text = ''
  const next = async (): Promise<Json> => {
    const [event, data] = /^(?::.*\n\n)*data: (.*)\n\n/.exec(text) ?? []
    if (event !== undefined) {
      text = text.slice(event.length)
      return JSON.parse(data ?? '')
    }
    const { done, value = '' } = await pieces.read()
    text += value
    return done ? undefined : next()
  }
  const rest = async () => {
    const messages: Json[] = []
    for (let message = await next(); message !== undefined; message = await next()) messages.push(message)
    return messages
  }
  return { next, rest }
}

/** Waits until the service tells this of an input. */
export async function untilTold(server: Server, input: string, fate: string): Promise<void> {
  await eventually(async () => expect(await fateOf(server, input)).toBe(fate))
}

/** What the service tells of an input. */
export async function fateOf(server: Server, input: string): Promise<string> {
  return (await run(server, '/api/agents/tells/run', { input })).text
}

/** Opens the gate of an input. */
export async function open(server: Server, input: string): Promise<void> {
  await run(server, '/api/agents/opens/run', { input })
}

/** What a person does with a form. */
export const accepted = (content?: object) => ({ action: 'accept', ...(content && { content }) })
export const DECLINED = { action: 'decline' }
export const CANCELLED = { action: 'cancel' }
