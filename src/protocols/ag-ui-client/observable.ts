/**
 * Observables of the user's own copy of the client.
 *
 * @module
 */

import { type BaseEvent, type HttpAgent, runHttpRequest } from '@ag-ui/client'

/** The events of a run. */
export type Events = ReturnType<HttpAgent['run']>

export interface EventsObserver {
  next(event: BaseEvent): void
  error(error: unknown): void
  complete(): void
}

/** An observable that calls `begin` for each subscriber. What that returns is called when the subscriber has left, or all is told. */
export function eventsOf(begin: (to: EventsObserver) => () => void): Events {
  // The user's own copy of the observables is reached through the user's own copy of the client.
  const source = runHttpRequest(() => Promise.reject(new Error('Not begun')))
  const Observable = source.constructor as new (begin: (to: EventsObserver) => () => void) => unknown
  return new Observable(begin) as Events
}
