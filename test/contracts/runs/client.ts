/** Starts, follows and reads stored runs over loopback. */
import { expect } from 'vitest'
import type { RunRecord } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import type { Runtime } from '../../runtimes/harness.ts'
import {
  type Answer,
  ask as askInternally,
  expectNothingInternal,
  jsonRequest,
  type Message,
  messagesOf,
  notesOf,
} from '../http/client.ts'

/** A server with the folder of its stored runs. Undefined if it stores them in memory. */
export interface Deployment extends Runtime {
  readonly folder: string | undefined
}

export type Server = () => Deployment

export type Fields = Readonly<Record<string, string>>

export const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const times =
  /"((created|updated|connected|expires|starts|reset|lastTry|nextTry)At|timestamp)":"[^"]+"|such as [-\d]+T[:.\d]+Z|"at\\?":\\?"[-\d]+T[:.\d]+Z/g

/** An id of one test, for gates and owners. */
export const own = (what: string): string => `${what}-${crypto.randomUUID()}`

export const as = (user: string): Fields => ({ 'x-test-user': user })

/** The same as for plain runs. Records may contain times, but nothing else that is internal. */
export async function ask(server: Server, path: string, init?: RequestInit): Promise<Answer> {
  const response = await fetch(`${server().url}${path}`, init)
  const text = await response.text()
  expectNothingInternal(text.replace(times, ''))
  return { status: response.status, headers: response.headers, text }
}

export function post(server: Server, path: string, body: unknown, headers?: Fields): Promise<Answer> {
  return ask(server, path, jsonRequest(body, headers))
}

/** Starts a background run, and gives its record. */
export async function accept(
  server: Server,
  servable: string,
  body: unknown,
  headers?: Fields,
): Promise<RunRecord> {
  const fields = { prefer: 'respond-async', ...headers }
  const answer = await post(server, `/api/${servable}/run`, body, fields)
  expect(answer.status, answer.text).toBe(202)
  return JSON.parse(answer.text)
}

/** Starts a run of an agent that waits at a gate, and waits until it has started. */
export async function acceptGated(
  server: Server,
  headers?: Fields,
  more: object = {},
  name = 'gated',
): Promise<{ id: string; gate: string }> {
  const gate = own('gate')
  const { id } = await accept(server, `agents/${name}`, { input: gate, ...more }, headers)
  await noted(server, `${gate} started`)
  return { id, gate }
}

export async function openGate(server: Server, gate: string): Promise<void> {
  await askInternally(server, `/probe/open?gate=${gate}`)
}

/** Waits until an agent has noted this. */
export async function noted(server: Server, note: string): Promise<void> {
  await eventually(async () => expect((await notesOf(server)).includes(note), note).toBe(true))
}

export async function isNoted(server: Server, note: string): Promise<boolean> {
  return (await notesOf(server)).includes(note)
}

export async function get(server: Server, id: string, headers: Fields = {}): Promise<RunRecord> {
  const answer = await ask(server, `/api/runs/${id}`, { headers })
  expect(answer.status, answer.text).toBe(200)
  return JSON.parse(answer.text)
}

/** The record of a run after it has ended. */
export async function ended(server: Server, id: string, headers?: Fields): Promise<RunRecord> {
  await eventually(async () => expect((await get(server, id, headers)).status).not.toBe('running'))
  return get(server, id, headers)
}

export function cancel(server: Server, id: string, headers: Fields = {}): Promise<Answer> {
  return ask(server, `/api/runs/${id}/cancel`, { method: 'POST', headers })
}

/** The page of a list. */
export async function list(
  server: Server,
  query: string,
  headers: Fields = {},
): Promise<{ runs: RunRecord[]; nextCursor: string | null }> {
  const answer = await ask(server, `/api/runs${query}`, { headers })
  expect(answer.status, answer.text).toBe(200)
  return JSON.parse(answer.text)
}

export function streamRequest(
  server: Server,
  id: string,
  headers: Fields = {},
  query = '',
): Promise<Response> {
  return fetch(`${server().url}/api/runs/${id}/stream${query}`, { headers })
}

/** Follows a run to its end. */
export async function follow(
  server: Server,
  id: string,
  headers: Fields = {},
  query = '',
): Promise<Message[]> {
  const response = await streamRequest(server, id, headers, query)
  expect(response.status).toBe(200)
  const messages: Message[] = []
  for await (const message of messagesOf(response)) messages.push(message)
  return messages
}

/** Begins a stream, reads its first event and gives a function that leaves. */
export async function beginStream(
  server: Server,
  path: string,
  init: RequestInit,
): Promise<{ id: string; leave(): void }> {
  const leaving = new AbortController()
  const response = await fetch(`${server().url}${path}`, { ...init, signal: leaving.signal })
  expect(response.status).toBe(200)
  const { value } = await messagesOf(response).next()
  expect(value?.event).toEqual({ type: 'text', text: 'before ' })
  return { id: response.headers.get('x-run-id') ?? '', leave: () => leaving.abort() }
}

/** The members of every record, and `more` members. */
export function record(kind: string, name: string, more: object): object {
  const at = expect.stringMatching(time)
  return { id: expect.stringMatching(uuid), kind, name, createdAt: at, updatedAt: at, ...more }
}

/** The result of a run with this text. */
export function resultOf(text: string, more: object = {}): object {
  return {
    text,
    toolCalls: [],
    usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0 },
    structured: null,
    durationMs: expect.any(Number),
    finishReason: 'stop',
    runId: expect.stringMatching(uuid),
    ...more,
  }
}

/** The text of a stream without keep-alive comments. */
export function withoutComments(text: string): string {
  return text.replaceAll(/^:.*\n\n/gm, '')
}

/** Reads a stream piece by piece, without comments. */
export function textReader(response: Response): { more(): Promise<string>; rest(): Promise<string> } {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  const more = async (): Promise<string> => {
    const { done, value } = await reader.read()
    return withoutComments(decoder.decode(value, { stream: true })) || (done ? '' : more())
  }
  const rest = async () => {
    let text = ''
    for (let piece = await more(); piece !== ''; piece = await more()) text += piece
    return text
  }
  return { more, rest }
}
