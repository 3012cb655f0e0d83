/** Speaks to the service as OpenAI's clients do. */
import { expect } from 'vitest'
import { eventually } from '../../eventually.ts'
import { dataIn } from '../../protocols/openai/any-run.ts'
import { type Item, type ResponseObject, readStrictly } from '../../protocols/openai/response-stream.ts'
import { expectNothingInternal, jsonRequest, run } from '../http/client.ts'
import { type Fields, type Server, withoutComments } from '../runs/client.ts'

/** An answer: as JSON where it is some. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it has asked for
  readonly json: any
}

async function toAnswer(response: Response): Promise<Answer> {
  const text = withoutComments(await response.text())
  expectNothingInternal(text)
  const { status, headers } = response
  expect(headers.get('x-request-id')).toBeTruthy()
  const isJson = headers.get('content-type')?.startsWith('application/json')
  return { status, headers, text, json: isJson ? JSON.parse(text) : undefined }
}

/** Asks below `/v1`. */
export async function get(server: Server, path: string, init: RequestInit = {}): Promise<Answer> {
  return toAnswer(await fetch(`${server().url}/v1/${path}`, init))
}

export function send(server: Server, path: string, body: unknown, headers: Fields = {}): Promise<Answer> {
  return get(server, path, jsonRequest(body, headers))
}

export function remove(server: Server, path: string, headers: Fields = {}): Promise<Answer> {
  return get(server, path, { method: 'DELETE', headers })
}

/** Asks for a response, and checks that it is one. */
export async function respond(
  server: Server,
  model: string,
  input: unknown,
  more: object = {},
  headers: Fields = {},
): Promise<ResponseObject> {
  const { status, text, json } = await send(server, 'responses', { model, input, ...more }, headers)
  expect([status, text]).toEqual([200, expect.stringMatching('"object":"response"')])
  return json
}

/** Asks for a response as a stream; its last event has it. */
export async function streamed(
  server: Server,
  model: string,
  input: unknown,
  more: object = {},
  headers: Fields = {},
): Promise<{ readonly response: ResponseObject; readonly text: string }> {
  const body = { model, input, stream: true, ...more }
  const { text, headers: told } = await send(server, 'responses', body, headers)
  expect(told.get('content-type')).toContain('text/event-stream')
  return { response: readStrictly(text), text }
}

/** A kept response as it stands. */
export async function kept(server: Server, id: string, headers: Fields = {}): Promise<ResponseObject> {
  const { status, json, text } = await get(server, `responses/${id}`, { headers })
  expect(status, text).toBe(200)
  return json
}

/** The text of a response. */
export function said({ output }: ResponseObject): string {
  return itemsIn(output, 'message')
    .flatMap(({ content }) => content as { text: string }[])
    .map(({ text }) => text)
    .join('\n')
}

/** The items of one type. */
export function itemsIn(output: readonly Item[], type: string): Item[] {
  return output.filter(item => item.type === type)
}

/** The data of a stream of chunks. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export function chunksIn(text: string): any[] {
  return dataIn(text).data.map(data => JSON.parse(data))
}

/** Checks an error in OpenAI's form, and gives it. */
export function expectError(
  { status, json, text, headers }: Answer,
  expected: readonly [status: number, code: string],
): { readonly message: string; readonly type: string; readonly param: string | null } {
  expect([status, json?.error?.code], text).toEqual(expected)
  expect(json).toEqual({
    error: {
      message: expect.stringMatching(/./),
      type: expect.stringMatching(/_error$/),
      param: json.error.param === null ? null : expect.any(String),
      code: expected[1],
    },
  })
  if (status >= 500 && status !== 503) expect(headers.get('x-should-retry')).toBe('false')
  return json.error
}

/** Waits until the service tells this of an input. */
export async function untilTold(server: Server, input: string, fate: string): Promise<void> {
  await eventually(async () =>
    expect((await run(server, '/api/agents/tells/run', { input })).text).toBe(fate),
  )
}

/** Opens the gate of an input. */
export async function open(server: Server, input: string): Promise<void> {
  await run(server, '/api/agents/opens/run', { input })
}

/** Begins a stream, waits until a text has come, and leaves. Gives the id of its run. */
export async function leaveAfter(server: Server, path: string, body: object, word: string): Promise<string> {
  const leaving = new AbortController()
  const init = { ...jsonRequest({ ...body, stream: true }), signal: leaving.signal }
  const response = await fetch(`${server().url}/v1/${path}`, init)
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (!text.includes(word)) {
    const { value, done } = await reader.read()
    expect(done).toBe(false)
    text += decoder.decode(value, { stream: true })
  }
  leaving.abort()
  return response.headers.get('x-run-id') ?? ''
}

/** The id of a response, of its run. */
export const idOf = (runId: string): string => `resp_${runId.replaceAll('-', '')}`
