/**
 * State outside of this process, in objects that run the program's code beside their data: Durable Objects. It knows no plugin.
 *
 * @module
 */

import type { Platform } from '../http/platform.ts'
import type { HostSettings, RunHost } from '../runs/host.ts'
import type { NearStore } from '../state/store.ts'
import type { Place } from './place.ts'

/** The classes of objects: of one run or task each, of lists and what belongs to an owner or a key, of metrics, of sockets. */
export type ObjectClassName = 'run' | 'index' | 'metrics' | 'gateway'

/** Asks a keeper. Errors keep their code; arguments and results are what can be cloned, and byte streams. */
export type Ask = (method: string, ...args: readonly unknown[]) => Promise<unknown>

/** State elsewhere. */
export interface HostedState {
  readonly kind: 'hosted'
  createHost(settings: HostSettings): RunHost
  /** How many objects share what is of a class, where a deployment may choose that. */
  countOf(className: ObjectClassName): number
  /** The keeper of that name (a plugin's) in the object of a place. */
  reach(className: ObjectClassName, place: Place, keeper: string): Ask
  /** Keeps the isolate alive until the promise settles, in whatever request it is. */
  waitUntil(work: Promise<unknown>): void
  /** Sends a request to an object of sockets. */
  forward(className: 'gateway', name: string, request: Request, platform: Platform): Promise<Response>
}

/** A plugin's half in an object: made once for each life of an object in memory, when it is first needed. */
export interface Keeper {
  /** Answers. Throws a `ServableError` for what is asked wrongly. */
  ask(method: string, args: readonly unknown[]): unknown
  /** Collections whose documents the object deletes when they expire. */
  readonly expiring?: readonly string[]
  /** All other collections: an object lets itself go when nothing is left in any of its keepers'. */
  readonly lasting?: readonly string[]
  /** The alarm rings, for whichever keeper: looks after what is kept. */
  alarm?(): Promise<void>
}

/** A Durable Object, as a keeper sees it. */
export interface Seat {
  /** The object's own storage. */
  readonly store: SeatStore
  /** Asks keepers of other objects. */
  readonly reach: HostedState['reach']
  /** Keeps the object alive until the promise settles. */
  waitUntil(work: Promise<unknown>): void
  /** The alarm rings then, or before: the soonest of all keepers' moments wins. Milliseconds since 1970. */
  wakeBy(at: number): Promise<void>
  /** The same; an alarm that this keeper set before, and that nobody else needs, is moved. */
  wakeAt(at: number): Promise<void>
}

/** The storage of an object. */
export interface SeatStore extends NearStore {
  /** Whether nothing was ever written. */
  isEmpty(): boolean
  /** Deletes everything, tables and alarm too. */
  clear(): Promise<void>
}
