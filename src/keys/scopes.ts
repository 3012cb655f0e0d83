/**
 * What a key may do. This is decided here alone: for requests by their method and part, for runs by what they run.
 *
 * @module
 */

import type { Context } from '../http/context.ts'

/** What a request needs. Each includes the ones before it. */
export type Need = 'read' | 'run' | 'all'

/** The scopes that this service knows, besides those of {@link NAMED}. */
export const SCOPES: readonly Need[] = ['read', 'run', 'all']

/** A scope for one agent, team or workflow. */
export const NAMED: RegExp = /^(agent|team|workflow):\S{1,200}$/

/** Protocols that callers also speak with other methods than `POST`: `run` is enough for them. */
const PROTOCOLS: ReadonlySet<string> = new Set(['a2a', 'mcp'])

/** Parts of administrators, where they have no `authenticate`. */
const ADMIN: ReadonlySet<string> = new Set(['admin', 'keys'])

/** What a request needs. */
export function needOf({ method }: Pick<Request, 'method'>, { part }: Pick<Context, 'part'>): Need {
  if (ADMIN.has(part)) return 'all'
  // A socket is opened to run something.
  if (part === 'socket') return 'run'
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return 'read'
  return method === 'POST' || PROTOCOLS.has(part) ? 'run' : 'all'
}

/** Whether the scopes of a key are enough. */
export function mayDo(scopes: readonly string[], need: Need): boolean {
  if (scopes.includes('all')) return true
  if (need === 'all') return false
  const runs = scopes.includes('run') || scopes.some(scope => NAMED.test(scope))
  return runs || (need === 'read' && scopes.includes('read'))
}

/** What alone a key with these scopes may run. Undefined: everything. */
export function onlyOf(scopes: readonly string[]): readonly string[] | undefined {
  if (scopes.includes('all') || scopes.includes('run')) return undefined
  return scopes.filter(scope => NAMED.test(scope))
}
