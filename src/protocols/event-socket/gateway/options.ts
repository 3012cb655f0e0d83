/**
 * The options of the event socket.
 *
 * @module
 */

import type { ServableAgent, ServableLike, ServableTeam, ServableWorkflow } from '../../../agents/contract.ts'
import { withDefaults } from '../../../base/defaults.ts'
import { ServableError } from '../../../base/errors.ts'
import type { Identity } from '../../../http/platform.ts'
import type { CorsSetting } from '../../../web/cors.ts'
import type { SocketHandshake } from '../socket/io/namespace.ts'
import type { SocketServer } from '../socket/io/server.ts'

/**
 * Decides who may connect. An identity may connect. A response refuses, and the client gets its text. Undefined or a throw
 * refuses too.
 */
export type AuthenticateSocket = (
  handshake: SocketHandshake,
) => Identity | Response | undefined | Promise<Identity | Response | undefined>

/** Options of the event socket. */
export interface GatewayOptions {
  /**
   * The agents on offer, by name. If you give any of `agents`, `teams` and `workflows`, nothing else is on offer. Default: all that
   * the handler serves.
   */
  readonly agents?: Readonly<Record<string, ServableLike<ServableAgent>>>
  /** The teams on offer, by name. Default: as for `agents`. */
  readonly teams?: Readonly<Record<string, ServableLike<ServableTeam>>>
  /** The workflows on offer, by name. Default: as for `agents`. */
  readonly workflows?: Readonly<Record<string, ServableLike<ServableWorkflow>>>
  /** The path of the socket. Default: `/socket.io/`. */
  readonly path?: string
  /** The namespace that clients join. Default: `/service`. */
  readonly namespace?: string
  /**
   * Decides at CONNECT who may join. Default: the middleware decides and identifies the client. With ready-made
   * authentication, a client that sends no credential in a header needs `auth.token` at CONNECT.
   */
  readonly authenticate?: AuthenticateSocket
  /**
   * The origins whose pages may connect. A page of the same origin always may. If any origin may connect, it may not send
   * cookies. Default: the handler's `cors`.
   */
  readonly origins?: CorsSetting
  /**
   * Lets a client that lost its connection continue. Its runs continue for `maxMs` milliseconds (default: 120,000), and it gets
   * the events that it missed from their logs. When off, its runs are cancelled at once. Default: off.
   */
  readonly recovery?: boolean | { readonly maxMs?: number }
  /** Limits on clients. */
  readonly limits?: GatewayLimits
  /**
   * A server that the host runs by itself. The namespace is added to it. Set `path`, `origins` and `recovery` on that
   * server. Its requests do not pass through the handler, so neither middleware nor the check of origins applies. Give
   * `authenticate` here, and `allow` to that server.
   */
  readonly server?: SocketServer
}

/** Limits on the clients of the event socket. On Workers each limit counts in one object. */
export interface GatewayLimits {
  /** Most bytes of a message as it is sent (text as UTF-8), and of a polling payload. Default: 1,000,000. */
  readonly maxPayload?: number
  /** Most events of one socket in a second, and in a burst. Further events are refused. Default: 100. */
  readonly maxEventsPerSecond?: number
  /** Most connections in all. Default: 10,000. */
  readonly maxSockets?: number
  /**
   * Most connections of one address, if the address is known. An IPv6 network of 64 bits counts as one address. Default:
   * 100.
   */
  readonly maxSocketsPerIp?: number
  /** Most sockets of one identity. Default: 100. */
  readonly maxSocketsPerIdentity?: number
  /** Most runs of one socket at a time. Default: 16. */
  readonly maxRunsPerSocket?: number
  /**
   * Most bytes that may wait for one client. Past the limit its runs pause. A client that reads nothing at all is
   * disconnected. Default: 4 MiB.
   */
  readonly maxBufferedBytes?: number
  /** Milliseconds between two pings. Default: 25,000. */
  readonly pingInterval?: number
  /** Milliseconds to wait for a pong. Default: 20,000. */
  readonly pingTimeout?: number
  /** Milliseconds that a connection may take to join a namespace. Default: 10,000. */
  readonly connectTimeout?: number
}

/** The options with every default in place. */
export interface GatewaySettings
  extends Pick<GatewayOptions, 'agents' | 'teams' | 'workflows' | 'authenticate' | 'origins' | 'server'> {
  readonly path: string
  readonly namespace: string
  /** Milliseconds that a client may be away. Undefined if recovery is off. */
  readonly recoveryMs: number | undefined
  readonly limits: Required<GatewayLimits>
}

/** Default of `recovery.maxMs`, in milliseconds. */
const RECOVERY_MS = 120_000

const LIMITS: Required<GatewayLimits> = {
  maxPayload: 1_000_000,
  maxEventsPerSecond: 100,
  maxSockets: 10_000,
  maxSocketsPerIp: 100,
  maxSocketsPerIdentity: 100,
  maxRunsPerSocket: 16,
  maxBufferedBytes: 4 * 1024 * 1024,
  pingInterval: 25_000,
  pingTimeout: 20_000,
  connectTimeout: 10_000,
}

/**
 * Fills in the defaults. `option` is the name of the option in errors. Throws `invalid_options` if two options exclude each
 * other.
 */
export function resolveGateway(option: string, options: GatewayOptions): GatewaySettings {
  const { path, namespace = '/service', recovery = false, limits, ...rest } = options
  for (const name of ['path', 'origins', 'recovery'] as const) {
    if (options.server !== undefined && options[name] !== undefined) {
      throw new ServableError(
        'invalid_options',
        `\`${option}.${name}\` cannot stand beside \`${option}.server\`: set it in the server's own options`,
      )
    }
  }
  return {
    ...rest,
    path: path ?? '/socket.io/',
    namespace,
    recoveryMs: recovery === false ? undefined : ((recovery === true ? {} : recovery).maxMs ?? RECOVERY_MS),
    limits: withDefaults(LIMITS, limits),
  }
}
