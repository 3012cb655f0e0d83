/**
 * Observers of runs over all transports: metrics, traces, webhooks.
 *
 * @module
 */

import type {
  Answer,
  ErrorEvent,
  FinishEvent,
  RunEvent,
  RunInput,
  TraceparentOf,
} from '../agents/contract.ts'
import type { Target } from './target.ts'
import type { Continued } from './waiting/waiting.ts'

/** A run that begins. */
export interface BegunRun extends Pick<Target, 'kind' | 'name' | 'servable'> {
  readonly runId: string
  readonly input: RunInput
  readonly sessionId: string | undefined
  /** The `traceparent` of the request, if it had one (W3C Trace Context). */
  readonly traceparent: string | undefined
  /** The identity that owns it; null if there is none. */
  readonly owner: string | null
  /** The id of the request that started it, as in the log. */
  readonly requestId: string | undefined
  /** How it was requested, as in its record. A stored run knows it with `runs.measure`. */
  readonly transport: string | undefined
  /** The answers with which it goes on, if it continues a run. */
  readonly answers?: readonly Answer[] | undefined
  /** The run that it continues: its id, and its `traceparent`. */
  readonly continues?: Pick<Continued, 'from' | 'traceparent'> | undefined
  /** Removes the secrets of the request from a text of the run, above all provider keys. */
  redact(text: string): string
}

/** Observes every run, and every stream of events that a client reads. */
export interface Observer {
  /** Called when a run begins. Returns its observer; undefined for none. */
  start?(run: BegunRun): RunObserver | undefined
  /** Called when a stream opens. The returned function is called when it closes. */
  openStream?(): () => void
}

/** Observes one run. */
export interface RunObserver {
  /** The `traceparent` of the run's span, which replaces the request's. Read once, when the run begins. */
  readonly traceparent?: string | undefined
  /** Returns the `traceparent` of a part of the run. */
  readonly traceparentOf?: TraceparentOf | undefined
  /** Called with each event except the last. */
  event?(event: RunEvent): void
  /** Called with the last event, once. */
  end?(event: FinishEvent | ErrorEvent, durationMs: number): void
}

/** An observer with its name, for the log. */
export interface NamedObserver {
  readonly name: string
  readonly observer: Observer
}

/**
 * Combines several observers into one that never throws. `onError` gets the errors, and an observer that threw gets no more calls
 * for that run. Undefined if there are none.
 */
export function observeBy(
  observers: readonly NamedObserver[],
  onError: (name: string, thrown: unknown) => void,
): Required<Observer> | undefined {
  if (observers.length === 0) return undefined
  const attempt = <T>(name: string, work: () => T): T | undefined => {
    try {
      const given = work()
      catchLate(given, thrown => onError(name, thrown))
      return given
    } catch (thrown) {
      onError(name, thrown)
      return undefined
    }
  }
  return {
    start(run) {
      const watching = observers.flatMap(({ name, observer }) => {
        const started = attempt(name, () => observer.start?.(run))
        return started === undefined ? [] : [new GuardedObserver(name, started, onError)]
      })
      return watching.length > 1 ? new ObserverGroup(watching) : watching[0]
    },
    openStream() {
      const closing = observers.map(({ name, observer }) => ({
        name,
        close: attempt(name, () => observer.openStream?.()),
      }))
      return () => {
        for (const { name, close } of closing) attempt(name, () => close?.())
      }
    },
  }
}

/** Calls an observer of a run until it throws. */
class GuardedObserver implements RunObserver {
  readonly #name: string
  #observer: RunObserver | undefined
  readonly #onError: (name: string, thrown: unknown) => void

  constructor(name: string, observer: RunObserver, onError: (name: string, thrown: unknown) => void) {
    this.#name = name
    this.#observer = observer
    this.#onError = onError
  }

  get traceparent(): string | undefined {
    return this.#ask(observer => observer.traceparent)
  }

  readonly traceparentOf: TraceparentOf = (id, name) =>
    this.#ask(observer => observer.traceparentOf?.(id, name))

  event(event: RunEvent): void {
    catchLate(
      this.#ask(observer => observer.event?.(event)),
      this.#fail,
    )
  }

  end(event: FinishEvent | ErrorEvent, durationMs: number): void {
    catchLate(
      this.#ask(observer => observer.end?.(event, durationMs)),
      this.#fail,
    )
  }

  #ask<T>(question: (observer: RunObserver) => T): T | undefined {
    try {
      return this.#observer && question(this.#observer)
    } catch (thrown) {
      this.#fail(thrown)
      return undefined
    }
  }

  readonly #fail = (thrown: unknown): void => {
    if (this.#observer === undefined) return
    this.#observer = undefined
    this.#onError(this.#name, thrown)
  }
}

/** Reports the rejection of an observer's method that happens to be async. */
function catchLate(given: unknown, onError: (thrown: unknown) => void): void {
  if (given instanceof Promise) given.catch(onError)
}

class ObserverGroup implements RunObserver {
  readonly #observers: readonly GuardedObserver[]
  /** The first that traces the run: a run has one span. */
  readonly #tracing: GuardedObserver | undefined

  constructor(observers: readonly GuardedObserver[]) {
    this.#observers = observers
    this.#tracing = observers.find(({ traceparent }) => traceparent)
  }

  get traceparent(): string | undefined {
    return this.#tracing?.traceparent
  }

  get traceparentOf(): TraceparentOf | undefined {
    return this.#tracing?.traceparentOf
  }

  event(event: RunEvent): void {
    for (const one of this.#observers) one.event(event)
  }

  end(event: FinishEvent | ErrorEvent, durationMs: number): void {
    for (const one of this.#observers) one.end(event, durationMs)
  }
}
