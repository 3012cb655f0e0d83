/**
 * The parts of Cloudflare's interfaces that are used. They are restated here, so that the declarations need no types package
 * that a user may not have.
 *
 * @module
 */

import type { SleepingSocket } from '../../core/hosted.ts'
import type { ObjectStorage } from '../../stores/objects/tables.ts'

/** The state of a Durable Object. */
export interface ObjectState {
  readonly storage: ObjectStorage
  waitUntil(promise: Promise<unknown>): void
  /** Accepts a WebSocket that does not keep the object in memory. */
  acceptWebSocket(socket: SleepingSocket): void
  getWebSockets(): SleepingSocket[]
}

/** Both ends of a WebSocket. */
export interface SocketPair {
  readonly 0: SleepingSocket
  readonly 1: SleepingSocket
}

/** A class of Durable Objects, as a Worker exports it. */
export type ObjectClass = new (state: ObjectState, env: unknown) => object

/** Finds the objects of a class. `T` is their interface over RPC. */
export interface ObjectNamespace<T> {
  getByName(name: string): T
}
