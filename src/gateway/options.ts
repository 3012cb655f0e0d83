/**
 * The options of the event socket.
 *
 * @module
 */

import type { ServableAgent, ServableLike, ServableTeam, ServableWorkflow } from '../agents/contract.ts'
import type { Registry } from '../agents/registry.ts'
import { withDefaults } from '../defaults.ts'
import { ServableError } from '../errors.ts'
import type { Identity } from '../http/platform.ts'
import type { SocketHandshake } from '../socket/io/namespace.ts'
import type { SocketServer } from '../socket/io/server.ts'
import type { CorsSetting } from '../web/cors.ts'

/** Says who may connect. An identity lets the client in. A response refuses with its text. Undefined and a throw refuse too. */
export type AuthenticateSocket = (
  handshake: SocketHandshake,
) => Identity | Response | undefined | Promise<Identity | Response | undefined>

/** How runs are offered over the event socket. */
export interface GatewayOptions {
  /**
   * The agents on offer, by name. With any of `agents`, `teams`, `workflows` and `registry` nothing else is on offer. Default:
   * all that the handler serves.
   */
  readonly agents?: Readonly<Record<string, ServableLike<ServableAgent>>>
  readonly teams?: Readonly<Record<string, ServableLike<ServableTeam>>>
  readonly workflows?: Readonly<Record<string, ServableLike<ServableWorkflow>>>
  /** Where other names are looked up, at every event. */
  readonly registry?: Registry
  /** The path of the socket. Default: `/socket.io/`. */
  readonly path?: string
  /** The namespace that clients join. Default: `/service`. */
  readonly namespace?: string
  /**
   * Decides at CONNECT who may join. With ready-made authentication, a client that sends no credential in a header is asked for
   * `auth.token` at CONNECT. Default: the middleware decides, and says whose socket it is.
   */
  readonly authenticate?: AuthenticateSocket
  /**
   * The origins whose pages may connect. A page of the same origin always may. If any origin may connect, it may not send
   * cookies. Default: the handler's `cors`.
   */
  readonly origins?: CorsSetting
  /**
   * Lets a client that lost its connection continue. Its runs go on for `maxMs` milliseconds (default: 120,000), and it gets
   * the events that it missed from their logs. When off, its runs are cancelled at once. Default: off.
   */
  readonly recovery?: boolean | { readonly maxMs?: number }
  /** Bounds on clients. */
  readonly limits?: GatewayLimits
  /**
   * A server that the host runs by itself. The namespace is added to it; `path`, `origins` and `recovery` are options of that
   * server. Its requests do not pass through the handler, so neither middleware nor the check of origins applies: give
   * `authenticate` here, and `allow` to that server.
   */
  readonly server?: SocketServer
}

/** Bounds on the clients of the event socket. On Workers each counts in one object. */
export interface GatewayLimits {
  /** Most bytes of a message as it is sent (text as UTF-8), and of a polling payload. Default: 1,000,000. */
  readonly maxPayload?: number
  /** Most attachments of one event, 10 or less. Default: 10. */
  readonly maxAttachments?: number
  /** Most namespaces of one connection. Default: 4. */
  readonly maxNamespaces?: number
  /** Most events of one socket a second, also in one burst. More are refused. Default: 100. */
  readonly maxEventsPerSecond?: number
  /** Most connections in all. Default: 10,000. */
  readonly maxSockets?: number
  /** Most connections of one address (of IPv6 one network of 64 bits), if the address is known. Default: 100. */
  readonly maxSocketsPerIp?: number
  /** Most sockets of one identity. Default: 100. */
  readonly maxSocketsPerIdentity?: number
  /** Most runs of one socket at a time. Default: 16. */
  readonly maxRunsPerSocket?: number
  /**
   * Most bytes that may wait for one client. Past it, its runs wait too. A client that reads nothing at all is disconnected.
   * Default: 4 MiB.
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
  extends Pick<
    GatewayOptions,
    'agents' | 'teams' | 'workflows' | 'registry' | 'authenticate' | 'origins' | 'server'
  > {
  readonly path: string
  readonly namespace: string
  /** Milliseconds; undefined where recovery is off. */
  readonly recoveryMs: number | undefined
  readonly limits: Required<GatewayLimits>
}

/** Milliseconds for which a client may be away. */
const RECOVERY_MS = 120_000

const LIMITS: Required<GatewayLimits> = {
  maxPayload: 1_000_000,
  maxAttachments: 10,
  maxNamespaces: 4,
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

/** Fills in the defaults. `option` is the name in front. Throws `invalid_options` for what does not go together. */
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
