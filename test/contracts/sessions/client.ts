/** Asks for sessions over loopback. */
import { expect } from 'vitest'
import type { SessionPage, SessionSummary, TurnPage } from '../../../src/features/sessions/plugin.ts'
import type { Turn } from '../../../src/index.ts'
import type { Answer } from '../http/client.ts'
import { ask, type Fields, post, type Server } from '../runs/client.ts'

/** The path of a session. */
export function pathOf(id: string, of = 'agents/talks'): string {
  return `/api/${of}/sessions/${encodeURIComponent(id)}`
}

/** A session, or the code of the problem. */
export async function look(
  server: Server,
  id: string,
  headers: Fields = {},
  of?: string,
): Promise<string | SessionSummary> {
  const { text, status } = await ask(server, pathOf(id, of), { headers })
  return status === 200 ? JSON.parse(text) : codeIn(text)
}

export function codeIn(text: string): string {
  return JSON.parse(text).code
}

export async function listed(server: Server, headers: Fields, query = ''): Promise<SessionPage> {
  const { status, text } = await ask(server, `/api/sessions${query}`, { headers })
  expect(status, text).toBe(200)
  return JSON.parse(text)
}

/** All pages of a list. */
export async function allListed(server: Server, headers: Fields, query: string): Promise<SessionSummary[]> {
  const all: SessionSummary[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: SessionPage = await listed(server, headers, `${query}${cursor && `&cursor=${cursor}`}`)
    all.push(...page.sessions)
    cursor = page.nextCursor
  }
  return all
}

export async function turnPage(
  server: Server,
  id: string,
  headers: Fields = {},
  query = '',
): Promise<TurnPage> {
  const { status, text } = await ask(server, `${pathOf(id)}/messages${query}`, { headers })
  expect(status, text).toBe(200)
  return JSON.parse(text)
}

/** The newest turns. */
export async function turnsOf(server: Server, id: string, headers: Fields = {}): Promise<readonly Turn[]> {
  return (await turnPage(server, id, headers)).turns
}

export async function say(
  server: Server,
  input: unknown,
  sessionId: string,
  headers: Fields = {},
  more: object = {},
  of = 'agents/talks',
): Promise<Answer> {
  return post(server, `/api/${of}/run`, { input, sessionId, ...more }, headers)
}

/** Makes a session. */
export async function make(server: Server, headers: Fields = {}, more: object = {}): Promise<SessionSummary> {
  const answer = await post(server, '/api/sessions', { name: 'talks', ...more }, headers)
  expect(answer.status, answer.text).toBe(201)
  const session: SessionSummary = JSON.parse(answer.text)
  expect(answer.headers.get('location')).toBe(pathOf(session.id))
  return session
}

export function rename(server: Server, id: string, title: unknown, headers: Fields = {}): Promise<Answer> {
  const init = { method: 'PATCH', headers: { 'content-type': 'application/json', ...headers } }
  return ask(server, pathOf(id), { ...init, body: JSON.stringify({ title }) })
}

export async function fork(
  server: Server,
  id: string,
  headers: Fields = {},
  more: object = {},
): Promise<SessionSummary> {
  const answer = await post(server, `${pathOf(id)}/fork`, more, headers)
  expect(answer.status, answer.text).toBe(201)
  return JSON.parse(answer.text)
}
