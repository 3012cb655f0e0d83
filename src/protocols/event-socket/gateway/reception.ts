/**
 * Decides who may connect to the gateway, and makes the sessions of admitted clients.
 *
 * @module
 */

import { Counter } from '../../../base/counter.ts'
import { redact, reportError, ServableError, shouldLog } from '../../../base/errors.ts'
import { type Identity, isIdentity, keptOf, withTenant } from '../../../http/platform.ts'
import { credentialsIn } from '../../../http/security/secrets.ts'
import { isResponse } from '../../../web/response.ts'
import type { Handshake } from '../socket/engine/connection.ts'
import type { SocketHandshake } from '../socket/io/namespace.ts'
import type { GatewayContext, Peer } from './context.ts'
import type { GatewaySettings } from './options.ts'
import { keyIn } from './payload.ts'
import { RateLimit } from './rate-limit.ts'
import { hasMissed, lastRun, type SocketRecord, type SocketRecords } from './records.ts'
import { GatewaySession } from './session.ts'
import type { SessionData } from './session-data.ts'
import { readPosition, type SeenEvents } from './socket-position.ts'

/** What the reception needs. */
export interface ReceptionParts extends GatewayContext {
  readonly settings: GatewaySettings
}

/** The result of an admission, for the session. */
interface Admitted {
  readonly data: SessionData
  /** The socket of an earlier connection, if the client can continue with it. */
  readonly missed?: Missed
}

/** The socket of an earlier connection, and how far its client has received its events. */
export interface Missed {
  readonly pid: string
  readonly record: SocketRecord
  readonly seen: SeenEvents
}

/** Admits clients, opens their sessions and closes them. */
export interface ClientReception {
  /** Throws if the client may not connect. */
  admit(handshake: SocketHandshake): Promise<Admitted>
  /** The answer to the client for an error of `admit`. */
  refusal(
    thrown: unknown,
    handshake: SocketHandshake,
  ): { readonly message: string; readonly data: { readonly code: string } }
  /** Whether the identity already has as many sockets as allowed. */
  isFull(data: SessionData): boolean
  /** Opens a session. `handshake` is that of the connection. All sessions of a connection share one rate of events. */
  open(peer: Peer, data: SessionData, handshake: Handshake): GatewaySession
  close(session: GatewaySession, mayReturn: boolean): void
}

/** Makes the reception. */
export function createReception(parts: ReceptionParts): ClientReception {
  const { settings, records } = parts
  const { maxSocketsPerIdentity } = settings.limits
  const identities = new Counter()
  const rates = new WeakMap<object, RateLimit>()
  const isFull = ({ identity }: SessionData) => identities.count(identity?.id) >= maxSocketsPerIdentity
  return {
    isFull,
    async admit(handshake) {
      const apiKey = keyIn(handshake.auth)
      const identity = await identify(handshake, settings)
      const { requestId } = handshake
      const data = {
        ...(identity && { identity: keptOf(identity) }),
        ...(apiKey !== undefined && { apiKey }),
        ...(requestId !== undefined && { requestId }),
      }
      if (isFull(data)) throw tooManySockets()
      if (records === undefined) return { data }
      const missed = await find(records, handshake, identity?.id ?? null)
      if (missed === undefined) {
        const own = { pid: crypto.randomUUID(), id: crypto.randomUUID(), generation: 1 }
        return { data: { ...data, private: own } }
      }
      const { pid, record } = missed
      const { id, generation } = record
      return { data: { ...data, private: { pid, id, generation }, begun: lastRun(record) }, missed }
    },
    refusal(thrown, handshake) {
      const secrets = secretsOf(handshake)
      const { code, message } = reportError(thrown, parts.runs.production, 'internal_error')
      if (shouldLog(thrown)) parts.onError(thrown, handshake.requestId, secrets)
      return { message: redact(message, secrets), data: { code } }
    },
    open(peer, data, handshake) {
      identities.add(data.identity?.id)
      const rate = rates.get(handshake) ?? new RateLimit(parts.limits.maxEventsPerSecond)
      rates.set(handshake, rate)
      return new GatewaySession(parts, peer, data, {
        ip: handshake.ip,
        rate,
        secrets: () => secretsIn(handshake),
      })
    },
    close(session, mayReturn) {
      identities.remove(session.identity?.id)
      session.leave(mayReturn)
    },
  }
}

/** Returns the client's earlier socket, if the client names one and can continue with it. */
async function find(
  records: SocketRecords,
  { recovery }: SocketHandshake,
  owner: string | null,
): Promise<Missed | undefined> {
  if (recovery === undefined) return undefined
  const { pid, offset } = recovery
  const record = await records.take(pid, owner)
  if (record === undefined) return undefined
  const seen = readPosition(offset, record.id, lastRun(record))
  if (seen !== undefined && hasMissed(record, seen)) return { pid, record, seen }
  // The client cannot continue with this socket. It gets a new one and so knows that events are lost.
  await records.drop(pid, record.generation)
  return undefined
}

/** Texts of a handshake that must not be logged if they occur in an error of `authenticate`. */
function secretsOf(handshake: SocketHandshake): string[] {
  const texts = Object.values(handshake.auth).filter(value => typeof value === 'string')
  return [...secretsIn(handshake), ...texts]
}

/** The credentials in the stored headers of the request that opened a connection. */
function secretsIn({ url, headers }: Handshake): string[] {
  return credentialsIn({ url, headers: new Headers(headers) })
}

/** The error for a socket past the limit. */
export function tooManySockets(): ServableError {
  return new ServableError('rate_limited', 'This identity has too many sockets')
}

/**
 * Returns the identity of a client. The gateway's own `authenticate` decides if there is one, otherwise the middleware has
 * decided. Throws `unauthorized`.
 */
async function identify(
  handshake: SocketHandshake,
  { authenticate }: GatewaySettings,
): Promise<Identity | undefined> {
  if (authenticate === undefined) return handshake.identity
  const answer: unknown = await authenticate(handshake)
  if (isResponse(answer)) throw new ServableError('unauthorized', await textOf(answer))
  if (isIdentity(answer)) return withTenant(answer)
  throw new ServableError('unauthorized', 'Not authorized')
}

/** Most characters of the text of a refusal. */
const MAX_TEXT = 1000

/** The text of a response that refuses. This is the `detail` of a problem document (RFC 9457), otherwise the body. */
async function textOf(response: Response): Promise<string> {
  const text = (await response.text().catch(() => '')).slice(0, MAX_TEXT)
  try {
    const { detail, error, message } = Object(JSON.parse(text)) as Record<string, unknown>
    const found = [detail, error, message].find(each => typeof each === 'string' && each !== '')
    if (typeof found === 'string') return found
  } catch {
    // The body is plain text.
  }
  return text === '' ? 'Not authorized' : text
}
