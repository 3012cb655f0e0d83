/**
 * State outside this process, in Durable Objects: they run the program's code beside their data. This file knows no plugin.
 *
 * @module
 */

import type { Sessions } from '../runs/sessions/session-storage.ts'
import type { HostSettings, RunHost } from '../runs/stored/host.ts'
import type { NearStore } from '../stores/store.ts'
import type { ObjectAddress } from './object-address.ts'

/** The classes of objects: of one run or task each, of lists and what belongs to an owner or a key, of metrics, of sockets. */
export type ObjectClassName = 'run' | 'index' | 'metrics' | 'gateway'

/** Asks a keeper. Errors keep their code; arguments and results are what can be cloned, and byte streams. */
export type Ask = (method: string, ...args: readonly unknown[]) => Promise<unknown>

/** The keeper of that name (a plugin's) in the object of a place. */
export type Reach = (className: ObjectClassName, place: ObjectAddress, keeper: string) => Ask

/** State elsewhere. */
export interface HostedState {
  readonly kind: 'hosted'
  createHost(settings: HostSettings): RunHost
  /** How many objects share what is of a class, where a deployment may choose that. */
  countOf(className: ObjectClassName): number
  readonly reach: Reach
  readonly sessions: Sessions
  /** Keeps the isolate alive until the promise settles, in whatever request it is. */
  waitUntil(work: Promise<unknown>): void
  /** Sends requests to objects of sockets, by their names. Throws `invalid_options` where there can be none. */
  forward(className: 'gateway'): (name: string, request: Request) => Promise<Response>
}

/** A plugin's half in an object: made once for each life of an object in memory, when it is first needed. */
export interface ObjectService {
  /** Answers. Throws a `ServableError` for what is asked wrongly. */
  ask(method: string, args: readonly unknown[]): unknown
  /** The collections that are its own: for one that moves the alarm, or lets the object go. */
  readonly collections?: readonly string[] | undefined
  /** Collections that are in memory alone: what they tell of ends with the object's memory, or is told from what is kept. */
  readonly passing?: readonly string[] | undefined
  /**
   * The alarm rings, for whichever keeper: looks after what is kept, and says by `wakeBy` when it is to ring next. One that
   * throws is asked again later.
   */
  alarm?(): Promise<void>
}

/** Makes a plugin's half. */
export type ObjectServiceMaker<Core> = (seat: Seat, core: Core) => ObjectService

/** A Durable Object, as a keeper sees it. */
export interface Seat {
  /** The object's own storage. Reading it makes nothing. */
  readonly store: NearStore
  /** Asks keepers of other objects. */
  readonly reach: Reach
  /** Keeps the object alive until the promise settles. */
  waitUntil(work: Promise<unknown>): void
  /** The alarm rings then, or before: the soonest of all keepers' moments wins. Milliseconds since 1970. */
  wakeBy(at: number): Promise<void>
  /** The same; an alarm that this keeper set before is moved, unless other keepers have something in the object. */
  wakeAt(at: number): Promise<void>
  /**
   * Deletes everything, tables and alarm too, which costs no row. False, and nothing is deleted, where other keepers have
   * something in the object.
   */
  letGo(): Promise<boolean>
}

/** A WebSocket of an object, with what is kept for it while the object is not in memory: 16,384 bytes at the most. */
export interface SleepingSocket {
  send(data: string | Uint8Array): void
  close(code?: number, reason?: string): void
  serializeAttachment(value: unknown): void
  deserializeAttachment(): unknown
}

/** An object whose WebSockets may outlive its memory, as their keeper sees it. Its alarm is the keeper's alone. */
export interface SocketSeat {
  /** Asks keepers of other objects. */
  readonly reach: Reach
  /** Those that are open, of earlier lives too. */
  sockets(): readonly SleepingSocket[]
  /** Opens a WebSocket: the response to the request for it, and the object's end. */
  accept(): { readonly response: Response; readonly socket: SleepingSocket }
  /** Keeps the object alive until the promise settles. */
  waitUntil(work: Promise<unknown>): void
  /** The alarm rings then. Milliseconds since 1970. */
  wakeAt(at: number): void
}

/** What answers in an object of sockets. */
export interface SocketService {
  fetch(request: Request): Promise<Response>
  message(socket: SleepingSocket, message: string | ArrayBuffer): void
  close(socket: SleepingSocket, code: number, reason: string): void
  alarm(): void
}
