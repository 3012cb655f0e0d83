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
  /** The `traceparent` of the request, where it came with one (W3C Trace Context). */
  readonly traceparent: string | undefined
  /** The identity that owns it; null where there is none. */
  readonly owner: string | null
  /** The request that started it, as in the log. */
  readonly requestId: string | undefined
  /** How it was asked for, as in its record. A stored run knows it with `runs.measure`. */
  readonly transport: string | undefined
  /** The answers with which it goes on, where it does. */
  readonly answers?: readonly Answer[] | undefined
  /** The run that it continues: its id, and its `traceparent`. */
  readonly continues?: Pick<Continued, 'from' | 'traceparent'> | undefined
  /** A text of the run, without the secrets that came with the request: keys of providers above all. */
  redact(text: string): string
}

/** Is told of every run, and of every stream of events that a client reads. */
export interface Observer {
  /** A run begins. Gives who is told of it further; undefined for nobody. */
  start?(run: BegunRun): RunObserver | undefined
  /** A stream opens. What this gives is called when it closes. */
  openStream?(): () => void
}

/** Is told of one run. */
export interface RunObserver {
  /** The place of the run in its trace, which it has instead of the request's. Read once, when the run begins. */
  readonly traceparent?: string | undefined
  /** The places of what is in the run. */
  readonly traceparentOf?: TraceparentOf | undefined
  /** Each event but the last. */
  event?(event: RunEvent): void
  /** The last one, once. */
  end?(event: FinishEvent | ErrorEvent, durationMs: number): void
}

/** An observer with its name, for the log. */
export interface NamedObserver {
  readonly name: string
  readonly observer: Observer
}

/**
 * One observer of several, none of which throws: `onError` is told, and the one that threw hears no more of that run.
 * Undefined where there is none.
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
      const told = observers.flatMap(({ name, observer }) => {
        const watching = attempt(name, () => observer.start?.(run))
        return watching === undefined ? [] : [new Told(name, watching, onError)]
      })
      return told.length > 1 ? new All(told) : told[0]
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

/** An observer of a run, until it throws. */
class Told implements RunObserver {
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

/** What is told may be an async function all the same, whose throw nobody else would hear. */
function catchLate(given: unknown, onError: (thrown: unknown) => void): void {
  if (given instanceof Promise) given.catch(onError)
}

class All implements RunObserver {
  readonly #told: readonly Told[]
  /** The first that traces the run: a run has one place. */
  readonly #tracing: Told | undefined

  constructor(told: readonly Told[]) {
    this.#told = told
    this.#tracing = told.find(({ traceparent }) => traceparent)
  }

  get traceparent(): string | undefined {
    return this.#tracing?.traceparent
  }

  get traceparentOf(): TraceparentOf | undefined {
    return this.#tracing?.traceparentOf
  }

  event(event: RunEvent): void {
    for (const one of this.#told) one.event(event)
  }

  end(event: FinishEvent | ErrorEvent, durationMs: number): void {
    for (const one of this.#told) one.end(event, durationMs)
  }
}
