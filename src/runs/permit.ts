/**
 * What the plugin `keys` does where runs start. This file has the interface alone: without the plugin everyone who is let in may run
 * everything.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import type { Target } from './target.ts'
import type { Approver } from './waiting/asking.ts'

/** Who asks for a run, as far as a permit looks at it. */
export interface PermitAsker extends Pick<Approver, 'identity'> {
  /** `socket` counts as a request of the key. Any other was counted when it came. */
  readonly transport?: string | undefined
}

/** What is run: all that a permit looks at. */
export type Permitted = Pick<Target, 'kind' | 'name'>

/**
 * Resolves to what alone the asker may run, as `agent:NAME`; undefined: everything. Throws `insufficient_scope` for who may run nothing,
 * `unauthorized` for a key that is revoked, and `rate_limited`.
 */
export type Permit = (asker: PermitAsker) => Promise<readonly string[] | undefined>

/**
 * Throws as {@link Permit} does for what the asker may not do with a run. What is run is looked up only for a key of some names.
 */
export async function checkPermitOf(
  permit: Permit | undefined,
  asker: PermitAsker,
  find: () => Permitted | Promise<Permitted>,
): Promise<void> {
  const only = await permit?.(asker)
  if (only !== undefined) checkPermit(only, await find())
}

/** Throws `insufficient_scope` for what is not among `only`. */
export function checkPermit(only: readonly string[] | undefined, { kind, name }: Permitted): void {
  if (only === undefined || only.includes(`${kind}:${name}`)) return
  throw new ServableError('insufficient_scope', `The key may not run this ${kind}`)
}
