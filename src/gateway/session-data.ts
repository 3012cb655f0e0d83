/**
 * What is known of a client of the gateway, and reading it back after a sleep.
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError } from '../errors.ts'
import { type Identity, isIdentity } from '../http/platform.ts'
import { isObject } from '../validation.ts'

/** What is known of a client. Small JSON: a socket that sleeps takes it along, with its key and into no store. */
export interface SessionData {
  readonly identity?: Identity
  readonly apiKey?: string
  /** The id of the request that opened the connection, for the log. */
  readonly requestId?: string
  /** How a client that comes back names its socket, and how many connections that has had. */
  readonly private?: { readonly pid: string; readonly id: string; readonly generation: number }
  /** The number of its last run. */
  begun?: number
}

const SessionDataSchema = v.strictObject({
  identity: v.exactOptional(v.custom<Identity>(isIdentity, 'must be an identity')),
  apiKey: v.exactOptional(v.string()),
  requestId: v.exactOptional(v.string()),
  private: v.exactOptional(v.strictObject({ pid: v.string(), id: v.string(), generation: v.number() })),
  begun: v.exactOptional(v.number()),
})

/**
 * What a socket took along. Throws `internal_error` for anything else: an attachment that cannot be read must not make
 * its client anonymous.
 */
export function readSessionData(kept: unknown): SessionData {
  if (isObject(kept) && v.is(SessionDataSchema, kept)) return kept
  throw new ServableError('internal_error', 'The stored data of a socket cannot be read')
}
