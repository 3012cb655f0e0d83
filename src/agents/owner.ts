/**
 * Whose memory a run has.
 *
 * @module
 */

import type { RunCaller } from './run-types.ts'

/**
 * Whose memory a run has; undefined for nobody's. Escaped, so that no name can spell another one's; who only claims to be a
 * user is never taken for an identity.
 */
export function ownerOf({ userId, identity }: Pick<RunCaller, 'userId' | 'identity'>): string | undefined {
  if (identity !== undefined) return escaped(identity)
  return userId === undefined ? undefined : `/${escaped(userId)}`
}

/** Text as a part of an id: it has no slash. */
export function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
