/** Issues keys as an administrator, and uses them over loopback. */
import { expect } from 'vitest'
import type { CallerKey, CallerKeyPage, IssuedKey } from '../../../src/features/keys/plugin.ts'
import { type Answer, expectNothingInternal } from '../http/client.ts'
import { type Fields, own, type Server } from '../runs/client.ts'
import { ADMIN } from './service.ts'

export { own, type Server }

/** An answer may have times, and nothing else that is internal. */
export async function ask(server: Server, path: string, init?: RequestInit): Promise<Answer> {
  const response = await fetch(`${server().url}${path}`, init)
  const text = await response.text()
  expectNothingInternal(text.replace(/\d{4}-\d\d-\d\dT[^"]+/g, ''))
  return { status: response.status, headers: response.headers, text }
}

export const bearer = (token: string): Fields => ({ authorization: `Bearer ${token}` })

/** Does what administrators do. */
export function manage(
  server: Server,
  method: string,
  path: string,
  body?: unknown,
  token: string = ADMIN,
): Promise<Answer> {
  return ask(server, `/api/keys${path}`, {
    method,
    headers: { ...bearer(token), ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

/** The same, where it works. */
export async function managed<T>(server: Server, method: string, path: string, body?: unknown): Promise<T> {
  const answer = await manage(server, method, path, body)
  expect(answer.status, answer.text).toBeLessThan(300)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  return JSON.parse(answer.text) as T
}

/** Issues a key. By default it is for an owner of its own and may run everything. */
export function issue(server: Server, more: object = {}): Promise<IssuedKey> {
  return managed<IssuedKey>(server, 'POST', '', { owner: own('ada'), name: 'test', scopes: ['run'], ...more })
}

export const change = (server: Server, { id }: CallerKey, body: object) =>
  managed<CallerKey>(server, 'PATCH', `/${id}`, body)

export const rotate = (server: Server, { id }: CallerKey, body: object = {}) =>
  managed<IssuedKey>(server, 'POST', `/${id}/rotate`, body)

export const revoke = (server: Server, { id }: CallerKey) => managed<CallerKey>(server, 'DELETE', `/${id}`)

/** The keys of an owner, page by page. */
export async function keysOf(server: Server, owner: string, limit = 2): Promise<CallerKey[]> {
  const found: CallerKey[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const at: string = cursor === '' ? '' : `&cursor=${cursor}`
    const page: CallerKeyPage = await managed(server, 'GET', `?owner=${owner}&limit=${limit}${at}`)
    found.push(...page.keys)
    cursor = page.nextCursor
  }
  return found
}

/** Runs an agent with a key. */
export function run(server: Server, key: string, what = 'agents/says', input = 'hi'): Promise<Answer> {
  return ask(server, `/api/${what}/run`, {
    method: 'POST',
    headers: { ...bearer(key), 'content-type': 'application/json' },
    body: JSON.stringify({ input }),
  })
}

/** What an answer says in short: its status, with the code of a problem. */
export function short({ status, text }: Answer): string {
  return status < 400 ? String(status) : `${status} ${JSON.parse(text).code}`
}
