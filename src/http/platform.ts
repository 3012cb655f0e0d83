import { OF, ownerIn, tenantOf } from '../base/owner.ts'
import type { Reply } from '../web/reply.ts'

const BRAND = Symbol.for('servable.platform')

/** An authenticated user, as middleware or an `authenticate` identified it. */
export interface Identity {
  /**
   * A stable id of 1 to 256 characters, without control characters, halves of surrogate pairs and white space at its ends. It
   * owns the runs, tasks and sessions that it starts, and replaces `userId`.
   */
  readonly id: string
  /**
   * The customer whose user it is: 1 to 64 letters, digits and `_ . -`. Nothing crosses from one tenant to another. The service puts
   * it before the id: `acme›ada`. Default: none.
   */
  readonly tenant?: string
  readonly scopes?: readonly string[]
  /** What it may do with the things of others: `viewer`, `approver`, `operator`, `admin`, and roles of `access`. Default: nothing. */
  readonly roles?: readonly string[]
  /** The id of its key of the plugin `keys`, if it used one. */
  readonly keyId?: string
}

/** The ids that an identity may have. Logs, pages and stores use them unchanged. */
export const IDENTITY_ID: RegExp = /^(?!\s)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_C}]{1,256}(?<!\s)$/u

/** The rule for ids, for error texts. */
export const IDENTITY_RULE =
  'must have 1 to 256 characters, no control characters, no `›`, and no white space at its ends'

/** Marks an identity whose id has its tenant. */
const OWNS = Symbol.for('servable.owner')

const TENANT = /^[\w.-]{1,64}$/

/** Whether a value of other code is an identity. One without an id would own what everyone owns. */
export function isIdentity(value: unknown): value is Identity {
  const { id, tenant, roles = [], [OWNS]: owns } = Object(value) as Partial<Identity & { [OWNS]: true }>
  if (typeof id !== 'string' || !Array.isArray(roles)) return false
  if (owns) return tenant !== undefined && id.startsWith(tenant + OF)
  return (
    IDENTITY_ID.test(id) &&
    !id.includes(OF) &&
    (tenant === undefined || (typeof tenant === 'string' && TENANT.test(tenant)))
  )
}

/** Whether a stored value is the kept part of an identity, whose id has its tenant. */
export function isKept(value: unknown): value is Identity {
  const { tenant } = Object(value) as Partial<Identity>
  return isIdentity(tenant === undefined ? value : { ...Object(value), [OWNS]: true })
}

/** Puts the tenant of an identity before its id, once. */
export function withTenant(identity: Identity): Identity {
  const { id, tenant } = identity
  return tenant === undefined || OWNS in identity
    ? identity
    : ({ ...identity, id: ownerIn(tenant, id), [OWNS]: true } as Identity)
}

/** The identity of an owner. */
export function identityOf(owner: string): Identity {
  const tenant = tenantOf(owner)
  return tenant === undefined ? { id: owner } : ({ id: owner, tenant, [OWNS]: true } as Identity)
}

/** The part of an identity that is kept while a socket is open. Further members last only for the request. */
export function keptOf({ id, tenant, scopes, roles, keyId }: Identity): Identity {
  const of = tenant === undefined ? { id } : identityOf(id)
  return { ...of, ...(scopes && { scopes }), ...(roles && { roles }), ...(keyId !== undefined && { keyId }) }
}

/** A runtime's facts of a request beyond the request itself. The entries of `runtimes/` make it. */
export interface Platform {
  /** The client's address, if the runtime itself vouches for it. */
  readonly ip?: string | undefined
  /**
   * Set by a development server that vouches for no address: the other end of the connection may be on this machine. `header` is
   * the one in which it passes an address, though clients may send that too.
   */
  readonly unproven?: { readonly header?: string } | undefined
  /** The identity, if the code that passes the request on has found it. */
  readonly identity?: Identity | undefined
  /** The id of the request, if the code that passes the request on has given it one. */
  readonly requestId?: string | undefined
  /** Keeps the runtime alive until a promise settles, even after the response. */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined
  /**
   * Keeps a runtime alive that is frozen after its responses, until the runs at work have ended. Absent if the process lives on
   * by itself.
   */
  readonly keepAlive?: ((promise: Promise<unknown>) => void) | undefined
  /** Whether requests of one deployment share no memory, so that values in memory are not found again. */
  readonly isIsolated?: boolean | undefined
  /**
   * Makes a WebSocket of the request (RFC 6455), if the runtime can. Returns the response for the handler to return, or undefined
   * if the request asks for no WebSocket. Call it at most once per request.
   */
  readonly upgrade?: ((handlers: RawSocketHandlers) => Response | undefined) | undefined
  /** Makes the response of a reply, if the runtime has a faster way to write it. */
  readonly respond?: ((reply: Reply) => Response) | undefined
}

/** A WebSocket of any runtime, on the server's side. */
export interface RawSocket {
  /** Sends a text or a binary message. Never throws. Does nothing on a closed socket. */
  send(data: string | Uint8Array): void
  /** Begins to close. Never throws. The handlers' `close` follows. */
  close(code?: number, reason?: string): void
  /** Bytes that wait for a slow reader; undefined if the runtime does not report them. */
  readonly bufferedAmount?: number | undefined
  /** Reports a change of the handlers' `snapshot`, for a socket that outlives the server's memory. Never throws. */
  changed?(): void
}

/** The handlers of a WebSocket's events. None of them may throw. */
export interface RawSocketHandlers {
  /** The most bytes of a message, for runtimes that can refuse a longer one while it arrives. */
  readonly maxPayload?: number | undefined
  /** Called once, before all others. Messages can be sent from then on. */
  open(socket: RawSocket): void
  /** Called for each message, in order. */
  message(socket: RawSocket, data: string | Uint8Array): void
  /** Called once, as the last. `code` is 1006 if the connection broke (RFC 6455, section 7.1.5). */
  close(socket: RawSocket, code: number, reason: string): void
  /**
   * Returns what a socket that outlives the server's memory needs to go on: small JSON for the server's `restore`. Undefined if
   * there is nothing to store.
   */
  snapshot?(): unknown
}

/**
 * Brands a platform object, so that the handler can distinguish it from the second arguments of runtimes (Bun's server, Deno's
 * info, Workers' bindings, Next's params).
 */
export function platform<P extends Platform>(members: P): P {
  return Object.assign(members, { [BRAND]: true })
}

/** A branded class, which is cheaper than an object with its own getter for every request. */
export class BrandedPlatform {
  constructor() {
    ;(this as { [BRAND]?: boolean })[BRAND] = true
  }
}

/** Whether an `Upgrade` header asks for a WebSocket (RFC 6455, section 4.2.1). */
export function isWebSocket(upgrade: string | null | undefined): boolean {
  return upgrade?.toLowerCase() === 'websocket'
}

const NONE: Platform = {}

/** The platform in a handler's second argument; an empty one if that is something else. */
export function platformOf(argument: unknown): Platform {
  const isOurs = typeof argument === 'object' && argument !== null && BRAND in argument
  return isOurs ? (argument as Platform) : NONE
}
