/** Makes requests to a server over loopback, and checks every answer for text that must never appear. */
import { connect, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { expect, vi } from 'vitest'
import type { RunEvent, RunResult } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import type { Runtime } from '../../runtimes/harness.ts'
import { untimed } from '../../support.ts'

export type Server = () => Runtime

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface Message {
  readonly id: string | undefined
  readonly event: RunEvent
}

export interface Told {
  readonly event: string
  readonly payload: { readonly runId: string; readonly name: string }
}

/** A stack, a file, a module, or the text of an agent's error. */
const internal =
  /\bat \S+ \(|:\d+:\d+|node_modules|file:\/\/|\.[jt]s\b|vault|this[.[]|is not a function|undefined/

export function expectNothingInternal(text: string): void {
  expect(text).not.toMatch(internal)
}

export async function ask(server: Server, path: string, init?: RequestInit): Promise<Answer> {
  const response = await fetch(`${server().url}${path}`, init)
  const text = await response.text()
  if (!path.startsWith('/dev/') && !path.startsWith('/probe/')) expectNothingInternal(text)
  return { status: response.status, headers: response.headers, text }
}

type Fields = Readonly<Record<string, string>>

/** A POST with a JSON body. */
export function jsonRequest(
  body: unknown,
  headers: Fields = {},
): RequestInit & { headers: Record<string, string> } {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
}

export function post(server: Server, path: string, body: unknown, headers?: Fields): Promise<Answer> {
  return ask(server, path, jsonRequest(body, headers))
}

/** Runs a servable, checks for 200 and gives the result. */
export async function run(
  server: Server,
  path: string,
  body: unknown = { input: 'one two' },
  headers?: Fields,
): Promise<RunResult> {
  const answer = await post(server, path, body, headers)
  expect(answer.status, answer.text).toBe(200)
  return JSON.parse(answer.text)
}

/** The messages of a stream as they come, without the times of their events. */
export async function* messagesOf(
  response: Response,
  onComment: (comment: string) => void = () => {},
): AsyncGenerator<Message> {
  const decoder = new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>
  const parser = new EventSourceParserStream({ onError: 'terminate', onComment })
  for await (const { id, data } of response.body!.pipeThrough(decoder).pipeThrough(parser)) {
    yield { id, event: untimed(JSON.parse(data)) }
  }
}

/** Reads a stream to its end. */
export async function stream(
  server: Server,
  path: string,
  body: unknown = { input: 'one two' },
  headers?: Fields,
): Promise<{ headers: Headers; messages: Message[]; events: RunEvent[]; comments: string[] }> {
  const response = await fetch(`${server().url}${path}`, jsonRequest(body, headers))
  expect(response.status).toBe(200)
  const comments: string[] = []
  const messages: Message[] = []
  for await (const message of messagesOf(response, comment => comments.push(comment))) messages.push(message)
  if (!path.startsWith('/dev/')) expectNothingInternal(JSON.stringify(messages))
  return { headers: response.headers, messages, events: messages.map(({ event }) => event), comments }
}

/** The notes of the fixture's agents. */
export async function notesOf(server: Server): Promise<string[]> {
  return JSON.parse((await ask(server, '/probe/notes')).text)
}

/** The events on the fixture's bus. */
export async function toldOn(server: Server): Promise<Told[]> {
  return JSON.parse((await ask(server, '/probe/bus')).text)
}

/** Checks that the server still works. */
export async function expectAlive(server: Server): Promise<void> {
  expect((await run(server, '/api/agents/echo/run')).text).toBe('one two')
}

/** Checks an error's body and headers, and that the server still works. */
export async function expectProblem(
  server: Server,
  answer: Answer,
  status: number,
  code: string,
): Promise<Record<string, unknown>> {
  expect(answer.status, answer.text).toBe(status)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  const problem = JSON.parse(answer.text)
  const { issues, ...fields } = problem
  expect(fields).toEqual({
    type: 'about:blank',
    title: expect.stringMatching(/./),
    status,
    detail: expect.stringMatching(/./),
    error: problem.detail,
    code,
    requestId: answer.headers.get('x-request-id'),
  })
  for (const issue of issues ?? []) {
    expect(issue).toEqual({ path: expect.any(String), message: expect.stringMatching(/./) })
  }
  await expectAlive(server)
  return problem
}

/**
 * Sends raw bytes and gives the complete answer. The request asks the server to close the connection, and the client closes
 * it too.
 */
export async function raw(
  server: Server,
  lines: readonly string[],
  body: string | Uint8Array = '',
): Promise<Answer> {
  const socket = send(server, lines, body)
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  let received = Buffer.alloc(0)
  const look = (isClosed: boolean) => {
    const answer = parseAnswer(received, isClosed)
    if (answer !== undefined) resolve(answer)
    else if (isClosed) reject(new Error(`closed after: ${received.toString('latin1')}`))
  }
  socket.on('data', chunk => {
    received = Buffer.concat([received, chunk])
    look(false)
  })
  // A server that has answered may refuse the rest of the request. Its answer counts.
  socket.on('error', () => {})
  socket.on('close', () => look(true))
  return promise.finally(() => socket.destroy())
}

/** The server's reaction to an endless body. */
export interface Flooded {
  /** Undefined if the connection closed without an answer. */
  readonly answer: Answer | undefined
  /** Bytes of the body that the server accepted, including those in buffers. */
  readonly sent: number
}

/**
 * Sends a body of `maxBytes` in chunks (RFC 9112, section 7.1), each after the one before has left, until the server refuses
 * more.
 */
export async function flood(
  server: Server,
  lines: readonly string[],
  start: string,
  maxBytes: number,
): Promise<Flooded> {
  const socket = send(server, [...lines, 'transfer-encoding: chunked'], chunk(start))
  let received = Buffer.alloc(0)
  let isOver = false
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
  socket.on('data', data => {
    received = Buffer.concat([received, data])
    isOver = true
  })
  socket.on('error', () => {})
  const piece = Buffer.from(chunk('x'.repeat(1 << 20)))
  let sent = 0
  void closed.then(() => {
    isOver = true
  })
  while (!isOver && !socket.destroyed && sent < maxBytes) {
    await Promise.race([new Promise<unknown>(resolve => socket.write(piece, resolve)), closed])
    sent += 1 << 20
    // If the system accepts writes at once, the answer needs a turn to be read.
    await setImmediate()
  }
  // The answer may still be on its way.
  await vi.waitFor(() => expect(socket.closed || parseAnswer(received, false)).toBeTruthy(), {
    timeout: 10_000,
  })
  socket.destroy()
  return { answer: parseAnswer(received, true), sent }
}

/** Milliseconds that a busy machine may need for a body of 80 MiB. */
const LARGE_MS = 55_000

/**
 * Sends a request that is refused before its end, its rest in spite of that, and then another on the same connection. Gives the
 * status of the refusal, undefined if it was lost. Resolves once the other one is answered as well, or the connection is closed.
 */
export async function refusedMidway(
  server: Server,
  lines: readonly string[],
  body: string | Uint8Array,
  rest: string | Uint8Array = '',
): Promise<number | undefined> {
  const { hostname, port } = new URL(server().url)
  const socket = connect(Number(port), hostname)
  const host = `host: ${hostname}:${port}`
  let received = ''
  socket
    .on('error', () => {})
    .on('data', chunk => {
      received += chunk.toString('latin1')
    })
  const isClosed = () => socket.destroyed || socket.readableEnded
  try {
    socket.write([...lines, host, '', ''].join('\r\n'))
    socket.write(body)
    await eventually(() => expect(isClosed() || received.includes('\r\n\r\n')).toBe(true), LARGE_MS)
    socket.write(rest)
    socket.write(`GET /api/agents HTTP/1.1\r\n${host}\r\n\r\n`)
    await eventually(() => expect(isClosed() || received.split('HTTP/1.1 ').length > 2).toBe(true), LARGE_MS)
    return received === '' ? undefined : Number(/^HTTP\/1\.1 (\d+)/.exec(received)?.[1])
  } finally {
    socket.destroy()
  }
}

/** Sends bytes and closes the connection without waiting for an answer. */
export async function hangUp(server: Server, lines: readonly string[], body: string): Promise<void> {
  const socket = send(server, lines, body)
  await new Promise(resolve => socket.once('connect', resolve))
  await new Promise<void>(resolve => socket.end(() => resolve()))
  socket.destroy()
}

function send(server: Server, lines: readonly string[], body: string | Uint8Array): Socket {
  const { hostname, port } = new URL(server().url)
  const socket = connect(Number(port), hostname)
  const saysWhere = lines.some(line => /^host:| HTTP\/1\.0$/i.test(line))
  const host = saysWhere ? [] : [`host: ${hostname}:${port}`]
  const head = [...lines, ...host, 'connection: close', '', ''].join('\r\n')
  socket.write(Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]))
  return socket
}

/** Asks for a WebSocket by hand. Gives the connection, which stays when the server ends it, and what the server has sent so far, in latin1. */
export function askForSocket(server: Server, path: string): { readonly socket: Socket; text(): string } {
  const { hostname, port } = new URL(server().url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  const fields = ['upgrade: websocket', 'connection: Upgrade', 'sec-websocket-version: 13']
  const key = `sec-websocket-key: ${btoa('sixteen bytes 16')}`
  socket.write([`GET ${path} HTTP/1.1`, `host: ${hostname}:${port}`, ...fields, key, '', ''].join('\r\n'))
  let received = ''
  socket
    .on('error', () => {})
    .on('data', chunk => {
      received += chunk.toString('latin1')
    })
  return { socket, text: () => received }
}

/** The answer in these bytes. Undefined while a part is missing. */
function parseAnswer(bytes: Buffer, isClosed: boolean): Answer | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [statusLine = '', ...fields] = bytes.toString('latin1', 0, end).split('\r\n')
  const headers = new Headers(
    fields.map(field => [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1)]),
  )
  const body = bodyIn(headers, bytes.subarray(end + 4), isClosed)
  return body && { status: Number(statusLine.split(' ')[1]), headers, text: body.toString() }
}

/** A body without its framing. Undefined while a part is missing. */
function bodyIn(headers: Headers, bytes: Buffer, isClosed: boolean): Buffer | undefined {
  if (headers.get('transfer-encoding') === 'chunked') return dechunk(bytes)
  const length = Number(headers.get('content-length'))
  return isClosed || (bytes.length === length && length > 0) ? bytes : undefined
}

/** Joins chunks. Undefined while the last one is missing. */
function dechunk(bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const end = bytes.indexOf('\r\n', at)
    if (end === -1) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, end), 16)
    if (size === 0) return Buffer.concat(parts)
    parts.push(bytes.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
}

/** A chunk of a chunked body (RFC 9112, section 7.1). */
export function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}
