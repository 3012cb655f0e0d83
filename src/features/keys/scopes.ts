/**
 * What a key may do. `http/security/scopes.ts` states the scope that each request needs.
 *
 * @module
 */

import type { AccessScope } from '../../http/security/scopes.ts'

/** The built-in scopes, besides those of {@link NAMED}. */
export const SCOPES: readonly AccessScope[] = ['read', 'run', 'all']

/** A scope for one agent, team or workflow. */
export const NAMED: RegExp = /^(agent|team|workflow):\S{1,200}$/

/** Whether the scopes of a key suffice. */
export function mayDo(scopes: readonly string[], need: AccessScope): boolean {
  if (scopes.includes('all')) return true
  if (need === 'all') return false
  const runs = scopes.includes('run') || scopes.some(scope => NAMED.test(scope))
  return runs || (need === 'read' && scopes.includes('read'))
}

/** The only targets that a key with these scopes may run. Undefined: all. */
export function onlyOf(scopes: readonly string[]): readonly string[] | undefined {
  if (scopes.includes('all') || scopes.includes('run')) return undefined
  return scopes.filter(scope => NAMED.test(scope))
}
