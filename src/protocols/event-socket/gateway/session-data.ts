/**
 * The state of a gateway client, and how it is read after a sleep.
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError } from '../../../base/errors.ts'
import { isObject } from '../../../base/validation.ts'
import { type Identity, isKept } from '../../../http/platform.ts'

/**
 * The state of a client as small JSON. A sleeping socket has it as its attachment, including the provider key. It is in no
 * store.
 */
export interface SessionData {
  readonly identity?: Identity
  readonly apiKey?: string
  /** The id of the request that opened the connection, for the log. */
  readonly requestId?: string
  /** The socket's private id, its public id and its number of connections, if the client can reconnect. */
  readonly private?: { readonly pid: string; readonly id: string; readonly generation: number }
  /** The number of the socket's last run. */
  begun?: number
}

const SessionDataSchema = v.strictObject({
  identity: v.exactOptional(v.custom<Identity>(isKept, 'must be an identity')),
  apiKey: v.exactOptional(v.string()),
  requestId: v.exactOptional(v.string()),
  private: v.exactOptional(v.strictObject({ pid: v.string(), id: v.string(), generation: v.number() })),
  begun: v.exactOptional(v.number()),
})

/**
 * Reads the state from an attachment. Throws `internal_error` if it is not valid: a client whose attachment cannot be read
 * must not become anonymous.
 */
export function readSessionData(kept: unknown): SessionData {
  if (isObject(kept) && v.is(SessionDataSchema, kept)) return kept
  throw new ServableError('internal_error', 'The stored data of a socket cannot be read')
}
