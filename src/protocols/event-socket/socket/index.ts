/**
 * The socket layer on its own: an Engine.IO v4 engine and a Socket.IO v5 server, as functions from requests to responses.
 *
 * Engine.IO is in `engine/` (begin with `engine/session.ts`), Socket.IO in `io/` (begin with `io/client.ts`). May import `web`,
 * `base`, and the platform of `http`.
 *
 * @module
 */

export type { CloseReason, Connection, Handshake } from './engine/connection.ts'
export { createEngine, type SocketEndpoint } from './engine/engine.ts'
export type { EngineHandlers, EngineLimits, EngineOptions } from './engine/options.ts'
export type { SessionSnapshot } from './engine/session-contracts.ts'
export type { Ack, Admission, DisconnectReason, Namespace, Socket, SocketHandshake } from './io/namespace.ts'
export type { RecoveryLimits } from './io/recovery.ts'
export { createSocketServer, type SocketServer, type SocketServerOptions } from './io/server.ts'
