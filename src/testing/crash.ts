/**
 * A process of a service in a test: a handler that can be killed, as a crash kills it.
 *
 * JavaScript cannot stop a function from outside. So a killed process loses what it needs to be seen: its store never answers
 * again, its runs get no further events, its connections break. What a body does between two events goes on to the next
 * `await` of the service, and no further.
 *
 * @module
 */

import type { RunEvent } from '../agents/contract.ts'
import { asPlugin } from '../core/built-in.ts'
import { coreOf } from '../core/handler.ts'
import type { Plugin } from '../core/plugin.ts'
import { drainOf } from '../http/drain.ts'
import { beginLife, type End } from '../runs/life.ts'
import type { LocalState } from '../runs/stored/local-state.ts'
import type { Store } from '../stores/store.ts'

/** A handler, as its process sees it. */
type Serve = (request: Request) => Promise<Response>

/** Makes the handler of a process, with its state and with a plugin more. */
export type MakeHandler = (state: LocalState, plugin: Plugin) => Serve

/** What ends with a process. */
class Death {
  isDead = false
  readonly #wakes = new Set<() => void>()
  #bury: (why: Error) => void = () => {}
  /** Never settles, until everything is over: then it rejects. */
  readonly never: Promise<never> = new Promise((_, reject) => {
    this.#bury = reject
  })

  constructor() {
    this.never.catch(() => {})
  }

  /** Calls `wake` at the death. Returns a function that cancels that. */
  onDeath(wake: () => void): () => void {
    this.#wakes.add(wake)
    return () => void this.#wakes.delete(wake)
  }

  die(): void {
    this.isDead = true
    for (const wake of this.#wakes) wake()
    this.#wakes.clear()
  }

  /** Lets go of what still waits. */
  bury(): void {
    this.#bury(new Error('The service was killed'))
  }
}

/** A process. */
export class TestProcess {
  readonly #death = new Death()
  readonly #handler: Serve
  #end: End | undefined

  constructor(state: LocalState, make: MakeHandler) {
    const store = mortal(state.store, this.#death)
    this.#handler = make({ ...state, store }, frozen(this.#death))
  }

  get isDead(): boolean {
    return this.#death.isDead
  }

  /** Begins its work without a request: it goes on with the runs of dead ones, and its schedules tick. */
  async begin(): Promise<void> {
    this.#end = await beginLife(this.#handler)
  }

  /** Answers a request. Rejects, and breaks the answer, if it is dead or dies. */
  async fetch(request: Request): Promise<Response> {
    if (this.isDead) throw broken()
    let forget = () => {}
    const death = new Promise<never>((_, reject) => {
      forget = this.#death.onDeath(() => reject(broken()))
    })
    try {
      return this.#cuttable(await Promise.race([this.#handler(request), death]))
    } finally {
      forget()
    }
  }

  /** Does what is due, which a read of the state would do. */
  async lookAfter(): Promise<void> {
    if (!this.isDead) await coreOf(this.#handler)?.host.lookAfter?.()
  }

  kill(): void {
    if (this.isDead) return
    this.#death.die()
    // Stops its timers. It waits for nothing, since its store does not answer.
    void this.#end?.().catch(() => {})
  }

  /** Ends it as a server ends that is told to: runs at work are cancelled, and their ends are stored. */
  async stop(): Promise<void> {
    if (!this.isDead) {
      await drainOf(this.#handler)?.(0)
      await this.#end?.()
    }
    this.#death.die()
    this.#death.bury()
  }

  /** The same response, with a body that breaks at the death. */
  #cuttable(response: Response): Response {
    const { body, status, statusText, headers } = response
    if (body === null) return response
    const reader = body.getReader()
    let forget = () => {}
    const stream = new ReadableStream<Uint8Array>({
      start: controller => {
        forget = this.#death.onDeath(() => controller.error(broken()))
      },
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (!done) return controller.enqueue(value)
          forget()
          controller.close()
        } catch (error) {
          forget()
          controller.error(error)
        }
      },
      async cancel(reason) {
        forget()
        await reader.cancel(reason)
      },
    })
    return new Response(stream, { status, statusText, headers })
  }
}

/** What `fetch` rejects with where nobody answers. */
function broken(): TypeError {
  return new TypeError('The connection is broken: the service was killed')
}

/** The store as one process sees it. It is alone: each one before it is dead. After its death no call comes back. */
function mortal(store: Store, death: Death): Store {
  const instance = crypto.randomUUID()
  const use = <Args extends unknown[], T>(work: (...args: Args) => T) => {
    return (...args: Args): T => {
      if (death.isDead) return death.never as T
      const given = work(...args)
      // An answer that is on its way does not arrive either.
      return (given instanceof Promise ? given.then(each => (death.isDead ? death.never : each)) : given) as T
    }
  }
  return {
    instance,
    isShared: false,
    ...(store.isRemote && { isRemote: true }),
    isAlive: other => other === instance,
    read: use((work, patienceMs) => store.read(work, patienceMs)) as Store['read'],
    write: use((work, patienceMs) => store.write(work, patienceMs)) as Store['write'],
    ...(store.hold && { hold: thing => store.hold?.(thing) ?? (() => {}) }),
    close() {},
  }
}

/** A plugin that stops the events of all runs at the death. */
function frozen(death: Death): Plugin {
  const alive = async <T>(given: Promise<T>): Promise<T> => {
    const value = await given
    return death.isDead ? death.never : value
  }
  return asPlugin({
    name: 'servable-test',
    runMiddleware: () => (run, next) => {
      const events = next(run)
      return {
        // The next event is not even asked for.
        next: () => (death.isDead ? death.never : alive(events.next())),
        async return(): Promise<IteratorResult<RunEvent>> {
          await events.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  })
}
