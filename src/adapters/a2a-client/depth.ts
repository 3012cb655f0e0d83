/**
 * Counts the services that a request has passed, so that services which call each other in a circle stop.
 *
 * @module
 */

import type { RunContext } from '../../agents/work/perform.ts'
import { ServableError } from '../../base/errors.ts'
import { isObject } from '../../base/validation.ts'

/** The member of a message's metadata that has the count. */
export const DEPTH = 'servable/depth'

/** Most services that one request may pass. */
const MAX_DEPTH = 8

/** The depth of a message of this run. Throws `unsupported_operation` for a depth above the limit. */
export function nextDepth({ metadata }: Pick<RunContext, 'metadata'>): number {
  const message = metadata?.message
  const own = isObject(message) && isObject(message.metadata) ? message.metadata[DEPTH] : 0
  const depth = typeof own === 'number' && own > 0 ? Math.ceil(own) : 0
  if (depth < MAX_DEPTH) return depth + 1
  throw new ServableError(
    'unsupported_operation',
    `The request has come over ${MAX_DEPTH} services, so no further remote agent is called`,
  )
}
