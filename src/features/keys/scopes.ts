/**
 * What a key may do. What a request needs stands in `http/scopes.ts`.
 *
 * @module
 */

import type { Scope } from '../../http/security/scopes.ts'

/** The scopes that this service knows, besides those of {@link NAMED}. */
export const SCOPES: readonly Scope[] = ['read', 'run', 'all']

/** A scope for one agent, team or workflow. */
export const NAMED: RegExp = /^(agent|team|workflow):\S{1,200}$/

/** Whether the scopes of a key are enough. */
export function mayDo(scopes: readonly string[], need: Scope): boolean {
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
