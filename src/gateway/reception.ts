/**
 * Who may connect to the gateway, and the sessions of those who have.
 *
 * @module
 */

import { Counter } from '../counter.ts'
import { isUntold, redact, reportError, ServableError } from '../errors.ts'
import { type Identity, isIdentity } from '../http/platform.ts'
import { credentialsIn } from '../http/secrets.ts'
import type { Handshake } from '../socket/engine/connection.ts'
import type { SocketHandshake } from '../socket/io/namespace.ts'
import { isResponse } from '../web/response.ts'
import type { GatewaySettings } from './options.ts'
import { keyIn } from './payload.ts'
import { readPlace, type Seen } from './place.ts'
import { RateLimit } from './rate-limit.ts'
import { hasMissed, lastRun, type SocketRecord, type SocketRecords } from './records.ts'
import { type GatewayRoom, GatewaySession, type Peer } from './session.ts'
import type { SessionData } from './session-data.ts'

/** What the reception needs. */
export interface ReceptionParts extends GatewayRoom {
  readonly settings: GatewaySettings
}

/** What `authenticate` found, on its way to the session. */
interface Admitted {
  readonly data: SessionData
  /** What the client missed, where it was here before. */
  readonly missed?: Missed
}

/** A socket of an earlier connection, and what its client has seen. */
export interface Missed {
  readonly pid: string
  readonly record: SocketRecord
  readonly seen: Seen
}

/** Decides who may connect, and keeps the sessions of those who have. */
export interface Reception {
  /** Throws for who may not. */
  admit(handshake: SocketHandshake): Promise<Admitted>
  /** What a client is told that `admit` threw for. */
  refusal(
    thrown: unknown,
    handshake: SocketHandshake,
  ): { readonly message: string; readonly data: { readonly code: string } }
  /** Whether its identity has as many sockets as may be. */
  isFull(data: SessionData): boolean
  /** `handshake` is the connection's: its sessions share one rate of events. */
  open(peer: Peer, data: SessionData, handshake: Handshake): GatewaySession
  close(session: GatewaySession, mayReturn: boolean): void
}

/** Makes the reception. */
export function createReception(parts: ReceptionParts): Reception {
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
        ...(identity && { identity }),
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
      if (isUntold(thrown)) parts.onError(thrown, handshake.requestId, secrets)
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

/** The socket that the client was before, if it says so and can go on with it. */
async function find(
  records: SocketRecords,
  { recovery }: SocketHandshake,
  owner: string | null,
): Promise<Missed | undefined> {
  if (recovery === undefined) return undefined
  const { pid, offset } = recovery
  const record = await records.take(pid, owner)
  if (record === undefined) return undefined
  const seen = readPlace(offset, record.id, lastRun(record))
  if (seen !== undefined && hasMissed(record, seen)) return { pid, record, seen }
  // Its client is here, and cannot go on with it: it is told so, as it gets another socket.
  await records.drop(pid, record.generation)
  return undefined
}

/** What of a handshake may be found in what `authenticate` throws, and is to go no further. */
function secretsOf(handshake: SocketHandshake): string[] {
  const texts = Object.values(handshake.auth).filter(value => typeof value === 'string')
  return [...secretsIn(handshake), ...texts]
}

/** The credentials of the request that opened a connection, as far as it is remembered. */
function secretsIn({ url, headers }: Handshake): string[] {
  return credentialsIn({ url, headers: new Headers(headers) })
}

/** Why one more is refused. */
export function tooManySockets(): ServableError {
  return new ServableError('rate_limited', 'This identity has too many sockets')
}

/** Who it is: the gateway's own `authenticate` decides, else the middleware has. Throws `unauthorized`. */
async function identify(
  handshake: SocketHandshake,
  { authenticate }: GatewaySettings,
): Promise<Identity | undefined> {
  if (authenticate === undefined) return handshake.identity
  const answer: unknown = await authenticate(handshake)
  if (isResponse(answer)) throw new ServableError('unauthorized', await textOf(answer))
  if (isIdentity(answer)) return answer
  throw new ServableError('unauthorized', 'Not authorized')
}

/** Most characters of a refusal's text. */
const MAX_TEXT = 1000

/** The text of a response that refuses: of a problem its detail (RFC 9457), else its body. */
async function textOf(response: Response): Promise<string> {
  const text = (await response.text().catch(() => '')).slice(0, MAX_TEXT)
  try {
    const { detail, error, message } = Object(JSON.parse(text)) as Record<string, unknown>
    const said = [detail, error, message].find(each => typeof each === 'string' && each !== '')
    if (typeof said === 'string') return said
  } catch {
    // It is plain text.
  }
  return text === '' ? 'Not authorized' : text
}
