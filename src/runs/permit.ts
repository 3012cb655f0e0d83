/**
 * The interface of the plugin `keys`, which is called where runs start. Without the plugin every admitted caller may run
 * everything.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import type { Target } from './target.ts'
import type { Approver } from './waiting/asking.ts'

/** The facts of a caller that a permit checks. */
export interface PermitAsker extends Pick<Approver, 'identity'> {
  /** `socket` counts as a request of the key. Requests of other transports were counted when they came. */
  readonly transport?: string | undefined
}

/** The facts of a target that a permit checks. */
export type Permitted = Pick<Target, 'kind' | 'name'>

/**
 * Resolves to the only targets that the caller may run, as `agent:NAME`; undefined for all. Throws `insufficient_scope` for a
 * caller that may run nothing, `unauthorized` for a revoked key, and `rate_limited`.
 */
export type Permit = (asker: PermitAsker) => Promise<readonly string[] | undefined>

/**
 * Throws as {@link Permit} does if the caller may not use a run. The target is looked up only for a key that names some.
 */
export async function checkPermitOf(
  permit: Permit | undefined,
  asker: PermitAsker,
  find: () => Permitted | Promise<Permitted>,
): Promise<void> {
  const only = await permit?.(asker)
  if (only !== undefined) checkPermit(only, await find())
}

/** Throws `insufficient_scope` for a target that is not among `only`. */
export function checkPermit(only: readonly string[] | undefined, { kind, name }: Permitted): void {
  if (only === undefined || only.includes(`${kind}:${name}`)) return
  throw new ServableError('insufficient_scope', `The key may not run this ${kind}`)
}
