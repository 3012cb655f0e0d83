/**
 * The owner of a run's memory.
 *
 * @module
 */

import type { RunCaller } from './run-types.ts'

/**
 * Returns the owner of a run's memory; undefined for none. The name is escaped, so that it cannot equal another owner's. A
 * claimed user id never equals an identity.
 */
export function ownerOf({ userId, identity }: Pick<RunCaller, 'userId' | 'identity'>): string | undefined {
  if (identity !== undefined) return escaped(identity)
  return userId === undefined ? undefined : `/${escaped(userId)}`
}

/** Escapes text as a part of an id, so that it has no slash. */
export function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
