/**
 * The contract of state in Durable Objects, which run the program's code next to their data. This file knows no plugin.
 *
 * @module
 */

import type { Sessions } from '../runs/sessions/session-storage.ts'
import type { HostSettings, RunHost } from '../runs/stored/host.ts'
import type { NearStore } from '../stores/store.ts'
import type { StoredRuns } from './stored-runs.ts'

/**
 * The address of data. Data with the same address is in one Durable Object, and a transaction cannot reach another address. A
 * network address or a key, which must stay secret, goes into `key`: only its digest names the object.
 */
export type ObjectAddress = string | { readonly name: string; readonly key: string }

/**
 * The classes of objects: `run` for one run or task, `index` for lists and the data of an owner or key, `metrics`, and `gateway`
 * for sockets.
 */
export type ObjectClassName = 'run' | 'index' | 'metrics' | 'gateway'

/** Calls a method of an object service. Errors keep their code. Arguments and results are cloneable values or byte streams. */
export type CallService = (method: string, ...args: readonly unknown[]) => Promise<unknown>

/** Returns the calls of the service with that name (a plugin's) in the object at an address. */
export type Reach = (className: ObjectClassName, address: ObjectAddress, service: string) => CallService

/** State in Durable Objects. */
export interface HostedState {
  readonly kind: 'hosted'
  createHost(settings: HostSettings): RunHost
  /** What a handler does with stored runs. */
  readonly storedRuns: StoredRuns
  /** The number of objects that share the data of a class. The deployment may choose it. */
  countOf(className: ObjectClassName): number
  /** Whether one object lists the runs of all owners, too. */
  readonly listsAll: boolean
  readonly reach: Reach
  readonly sessions: Sessions
  /** Keeps the isolate alive until the promise settles. It may be called in any request. */
  waitUntil(work: Promise<unknown>): void
  /** Sends requests to socket objects, by their names. Throws `invalid_options` if there are none. */
  forward(className: 'gateway'): (name: string, request: Request) => Promise<Response>
}

/** A plugin's service in a Durable Object. It is created on first use, once each time that the object is in memory. */
export interface ObjectService {
  /** Handles a call. Throws a `ServableError` for an invalid one. */
  ask(method: string, args: readonly unknown[]): unknown
  /** The service's own collections. A service that moves the alarm or deletes the object must list them. */
  readonly collections?: readonly string[] | undefined
  /** Collections that exist in memory only. Their data ends with the object's memory, or is rebuilt from stored data. */
  readonly inMemory?: readonly string[] | undefined
  /**
   * Called for every alarm, whichever service set it. The service does its due work and calls `wakeBy` for the next. If it
   * throws, it is called again later.
   */
  alarm?(): Promise<void>
}

/** Creates a plugin's service. */
export type ObjectServiceMaker<Core> = (context: ObjectContext, core: Core) => ObjectService

/** What an object service gets of its Durable Object. */
export interface ObjectContext {
  /** The object's own storage. A read creates no tables. */
  readonly store: NearStore
  /** Calls services of other objects. */
  readonly reach: Reach
  /** Keeps the object alive until the promise settles. */
  waitUntil(work: Promise<unknown>): void
  /** Sets the alarm for this time at the latest. The earliest time of all services wins. Milliseconds since 1970. */
  wakeBy(at: number): Promise<void>
  /**
   * Sets the alarm for this time, and replaces an earlier alarm of this service unless other services have data in the object.
   */
  wakeAt(at: number): Promise<void>
  /**
   * Deletes everything in the object, tables and alarm included, without writing a row. Returns false and deletes nothing if
   * other services have data in the object.
   */
  letGo(): Promise<boolean>
}

/** A WebSocket of a Durable Object, with an attachment that survives while the object is not in memory: at most 16,384 bytes. */
export interface SleepingSocket {
  send(data: string | Uint8Array): void
  close(code?: number, reason?: string): void
  serializeAttachment(value: unknown): void
  deserializeAttachment(): unknown
}

/**
 * What a socket service gets of its Durable Object. The WebSockets may outlive the object's memory. The alarm belongs to this
 * service alone.
 */
export interface SocketObjectContext {
  /** Calls services of other objects. */
  readonly reach: Reach
  /** The open sockets, including those accepted before the object was last evicted from memory. */
  sockets(): readonly SleepingSocket[]
  /** Opens a WebSocket. Returns the response for the client, and the object's end. */
  accept(): { readonly response: Response; readonly socket: SleepingSocket }
  /** Keeps the object alive until the promise settles. */
  waitUntil(work: Promise<unknown>): void
  /** Sets the alarm. Milliseconds since 1970. */
  wakeAt(at: number): void
}

/** Handles the requests and sockets of a Durable Object. */
export interface SocketService {
  fetch(request: Request): Promise<Response>
  message(socket: SleepingSocket, message: string | ArrayBuffer): void
  close(socket: SleepingSocket, code: number, reason: string): void
  alarm(): void
}
