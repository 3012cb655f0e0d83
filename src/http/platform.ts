import type { Reply } from '../web/reply.ts'

const BRAND = Symbol.for('servable.platform')

/** An authenticated user, as middleware or an `authenticate` found it. */
export interface Identity {
  /**
   * A stable id of 1 to 256 characters, without control characters, halves of surrogate pairs and white space at its ends. It owns the runs,
   * tasks and sessions that it starts, and takes the place of `userId`.
   */
  readonly id: string
  readonly scopes?: readonly string[]
  /** The id of the key that it came with, of the plugin `keys`. */
  readonly keyId?: string
}

/** The ids that an identity may have: logs, pages and stores show and keep each as it is. */
export const IDENTITY_ID: RegExp = /^(?!\s)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_C}]{1,256}(?<!\s)$/u

/** What an id that is none should be. */
export const IDENTITY_RULE =
  'must have 1 to 256 characters, no control characters, and no white space at its ends'

/** Whether other code's value is an identity: one without an id would own what everyone owns. */
export function isIdentity(value: unknown): value is Identity {
  const { id } = Object(value) as Partial<Identity>
  return typeof id === 'string' && IDENTITY_ID.test(id)
}

/** What is kept of an identity for as long as a socket is open. Further members live for the request alone. */
export function keptOf({ id, scopes, keyId }: Identity): Identity {
  return { id, ...(scopes && { scopes }), ...(keyId !== undefined && { keyId }) }
}

/** What a runtime knows of a request beyond the request itself. Made by the entries of `runtimes/`. */
export interface Platform {
  /** The client's address, where the runtime itself vouches for it. */
  readonly ip?: string | undefined
  /**
   * Of a server for development that vouches for no address: whoever is connected may be on this machine. `header` is where it
   * tells one, though clients may send that too.
   */
  readonly unproven?: { readonly header?: string } | undefined
  /** Who asks, where whoever passes the request on has found that out. */
  readonly identity?: Identity | undefined
  /** The id of the request, where whoever passes the request on has given it one. */
  readonly requestId?: string | undefined
  /** Keeps the runtime alive until a promise settles, after the response too. */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined
  /**
   * The same, for a runtime that is frozen after its responses: it is kept alive until the runs that are at work have ended. Absent
   * where a process lives on by itself.
   */
  readonly keepAlive?: ((promise: Promise<unknown>) => void) | undefined
  /** Requests of one deployment do not share memory: what is kept there is not found again. */
  readonly isIsolated?: boolean | undefined
  /**
   * Makes a WebSocket of the request (RFC 6455), where the runtime can. Gives the response that the handler is to
   * return, or undefined where this request asks for no WebSocket. At most once a request.
   */
  readonly upgrade?: ((handlers: RawSocketHandlers) => Response | undefined) | undefined
  /** Makes the response of a reply, where the runtime has a quicker way to write it. */
  readonly respond?: ((reply: Reply) => Response) | undefined
}

/** A WebSocket of any runtime, seen from the server. */
export interface RawSocket {
  /** Sends a text or a binary message. Never throws; on a socket that is closed it does nothing. */
  send(data: string | Uint8Array): void
  /** Begins to close. Never throws. `close` of the handlers follows. */
  close(code?: number, reason?: string): void
  /** Bytes that wait for a slow reader; undefined where the runtime does not say. */
  readonly bufferedAmount?: number | undefined
  /** What `snapshot` of the handlers gives has changed, for a socket that outlives the server's memory. Never throws. */
  changed?(): void
}

/** What a runtime tells of a WebSocket. None of them may throw. */
export interface RawSocketHandlers {
  /** Bytes that a message may have, for the runtimes that can refuse a longer one while it comes. */
  readonly maxPayload?: number | undefined
  /** Once, before anything else. The socket can be sent to. */
  open(socket: RawSocket): void
  /** One message, in order. */
  message(socket: RawSocket, data: string | Uint8Array): void
  /** Once, and nothing after it. `code` is 1006 where the connection broke (RFC 6455, section 7.1.5). */
  close(socket: RawSocket, code: number, reason: string): void
  /**
   * What a socket that outlives the server's memory needs to go on: small JSON for the server's `restore`. Undefined
   * where there is nothing to keep.
   */
  snapshot?(): unknown
}

/**
 * Brands a platform object, so that the handler can tell it from what runtimes pass as a second argument of their
 * own (Bun its server, Deno its info, Workers their bindings, Next its params).
 */
export function platform<P extends Platform>(members: P): P {
  return Object.assign(members, { [BRAND]: true })
}

/** The same for a class, which is cheaper than an object with a getter of its own for every request. */
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

/** The platform in a handler's second argument; an empty one where it is something else. */
export function platformOf(argument: unknown): Platform {
  const isOurs = typeof argument === 'object' && argument !== null && BRAND in argument
  return isOurs ? (argument as Platform) : NONE
}
