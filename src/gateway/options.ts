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

/** Who may connect: an identity; a response whose text refuses; undefined or a throw, which refuse as well. */
export type AuthenticateSocket = (
  handshake: SocketHandshake,
) => Identity | Response | undefined | Promise<Identity | Response | undefined>

/** How runs are offered over the event socket. */
export interface GatewayOptions {
  /** What is on offer, by name. Default: all that the handler serves. With any of these four, nothing else. */
  readonly agents?: Readonly<Record<string, ServableLike<ServableAgent>>>
  readonly teams?: Readonly<Record<string, ServableLike<ServableTeam>>>
  readonly workflows?: Readonly<Record<string, ServableLike<ServableWorkflow>>>
  /** Where other names are looked up, at every event. */
  readonly registry?: Registry
  /** Where it answers. Default `/socket.io/`. */
  readonly path?: string
  /** The namespace that clients join. Default `/service`. */
  readonly namespace?: string
  /**
   * Decides at CONNECT who may join. Default: who the middleware says it is, and whoever it lets through. Of ready-made
   * authentication a client that sends no credential in a header is asked for `auth.token` at CONNECT.
   */
  readonly authenticate?: AuthenticateSocket
  /**
   * The origins whose pages may connect. Default: the handler's `cors`; a page of the same origin always may. Where any origin
   * may, it may without cookies.
   */
  readonly origins?: CorsSetting
  /**
   * Lets a client that lost its connection go on where it was: its runs go on for `maxMs` milliseconds (default
   * 120,000), and what it missed is read from their logs. Default off: then they are cancelled at once.
   */
  readonly recovery?: boolean | { readonly maxMs?: number }
  /** Bounds on clients. */
  readonly limits?: GatewayLimits
  /**
   * A server that the host runs by itself, to which the namespace is added; `path`, `origins`, `recovery` are its own. Its
   * requests do not pass through the handler, so neither middleware nor the check of origins sees them: give
   * `authenticate`, and `allow` to that server.
   */
  readonly server?: SocketServer
}

/** Bounds on the clients of the event socket. On Workers each counts in one object. */
export interface GatewayLimits {
  /** Bytes of a message as it is sent (text as UTF-8), and of a polling payload. Default 1,000,000. */
  readonly maxPayload?: number
  /** Attachments of one event: 10, which is the default, at the most. */
  readonly maxAttachments?: number
  /** Namespaces of one connection. Default 4. */
  readonly maxNamespaces?: number
  /** Events of one socket a second, and in one go; more are refused. Default 100. */
  readonly maxEventsPerSecond?: number
  /** Connections in all. Default 10,000. */
  readonly maxSockets?: number
  /** Connections of one address, of IPv6 one network of 64 bits, where the address is known. Default 100. */
  readonly maxSocketsPerIp?: number
  /** Sockets of one identity. Default 100. */
  readonly maxSocketsPerIdentity?: number
  /** Runs of one socket at a time. Default 16. */
  readonly maxRunsPerSocket?: number
  /** Bytes that may wait for one client; a run waits with it, one that reads nothing at all is closed. Default 4 MiB. */
  readonly maxBufferedBytes?: number
  /** Milliseconds between two pings. Default 25,000. */
  readonly pingInterval?: number
  /** Milliseconds for which a pong is waited for. Default 20,000. */
  readonly pingTimeout?: number
  /** Milliseconds that a connection may take to join a namespace. Default 10,000. */
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
