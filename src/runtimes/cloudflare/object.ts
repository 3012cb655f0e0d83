/**
 * The Durable Objects that keep state: of a run or a task, of lists, of an owner or a key, of metrics. Keepers of runs and of
 * plugins do their work.
 *
 * @module
 */

import { DurableObject } from 'cloudflare:workers'
import { ServableError } from '../../base/errors.ts'
import type { Core } from '../../core/built-in.ts'
import type { ObjectClassName, ObjectService, ObjectServiceMaker, Seat } from '../../core/hosted.ts'
import { objectServiceOf } from '../../core/object-service.ts'
import type { Transactions } from '../../core/transaction-calls.ts'
import { logThrown } from '../../http/failure-log.ts'
import { SESSIONS_IN_STATE } from '../../runs/sessions/session-storage.ts'
import { type ObjectStore, objectStore } from '../../stores/objects/store.ts'
import { Alarm } from './alarm.ts'
import { reach } from './bindings.ts'
import type { ObjectClass, ObjectState } from './platform.ts'
import { type Answer, answering } from './rpc.ts'
import { createRunIndex, RUN_KEEPER } from './run-index.ts'
import { createRunObject } from './run-object.ts'

/** Milliseconds after which a keeper whose maintenance failed is asked again. */
const RETRY_MS = 60_000

/** The same, if this version cannot read the storage. Only another deployment helps. */
const UNREADABLE_MS = 60 * 60 * 1000

/** The classes whose objects have keepers. */
export type KeepingClass = Exclude<ObjectClassName, 'gateway'>

/** Makes a class. */
export function keepingClass(className: KeepingClass, exportName: string, core: Core): ObjectClass {
  const makers = makersOf(className, core)
  return class extends DurableObject {
    readonly #state: ObjectState
    readonly #store: ObjectStore
    readonly #alarm: Alarm
    readonly #keepers = new Map<string, ObjectService>()
    readonly #answer = answering(() => core.log)

    constructor(state: ObjectState, env: unknown) {
      // If a user has the runtime's own types, they type the base class.
      super(state as never, env as never)
      this.#state = state
      this.#store = objectStore(state.storage)
      this.#alarm = new Alarm(state.storage)
    }

    /** Asks the keeper of a name. An object has no other interface. */
    ask(keeper: string, method: string, args: readonly unknown[]): Promise<Answer<unknown>> {
      return this.#answer(() => this.#keeper(keeper).ask(method, args))
    }

    override async alarm(): Promise<void> {
      try {
        if (this.#store.isEmpty()) return
      } catch (error) {
        this.#tell(error)
        return this.#alarm.set(Date.now() + UNREADABLE_MS)
      }
      const isSet = await this.#alarm.ring(async () => {
        for (const name of makers.keys()) await this.#lookAfter(name)
      })
      if (!isSet && !this.#store.isEmpty() && !this.#store.holdsBeside([])) await this.#store.clear()
    }

    async #lookAfter(name: string): Promise<void> {
      try {
        await this.#keeper(name).alarm?.()
      } catch (error) {
        this.#tell(error)
        await this.#alarm.set(Date.now() + RETRY_MS)
      }
    }

    #tell(error: unknown): void {
      logThrown(core.log, { event: 'object.failed' }, error)
    }

    #keeper(name: string): ObjectService {
      const made = this.#keepers.get(name)
      if (made !== undefined) return made
      const make = makers.get(name)
      if (make === undefined) throw missing(exportName, name)
      const keeper = make(this.#seatOf(name), core)
      this.#store.pass(keeper.passing ?? [])
      this.#keepers.set(name, keeper)
      return keeper
    }

    #seatOf(name: string): Seat {
      const store = this.#store
      const isShared = () => store.holdsBeside(this.#keepers.get(name)?.collections ?? [])
      return {
        store,
        reach,
        waitUntil: work => this.#state.waitUntil(work),
        wakeBy: at => this.#alarm.set(at),
        wakeAt: at => this.#alarm.set(at, !isShared()),
        letGo: async () => {
          if (isShared()) return false
          this.#alarm.forget()
          await store.clear()
          return true
        },
      }
    }
  }
}

/** The keepers of a class by name: the core's own and those of the plugins. */
function makersOf(className: KeepingClass, core: Core): ReadonlyMap<string, ObjectServiceMaker<Core>> {
  const makers = new Map<string, ObjectServiceMaker<Core>>()
  const keep = (name: string, transactions: Transactions) =>
    makers.set(name, seat => objectServiceOf(seat, transactions))
  if (className === 'run') makers.set(RUN_KEEPER, createRunObject)
  if (className === 'index') {
    makers.set(RUN_KEEPER, createRunIndex)
    keep(SESSIONS_IN_STATE.name, SESSIONS_IN_STATE.transactions)
  }
  for (const { plugin, name } of core.mounted) {
    if (className === 'index') {
      for (const [keeper, each] of Object.entries(plugin.transactions ?? {})) keep(keeper, each)
      const { kept } = plugin
      if (kept !== undefined) keep(name, kept.over(name))
    }
    const make = plugin.objectServices?.[className]
    if (make !== undefined) makers.set(name, make)
  }
  return makers
}

function missing(exportName: string, keeper: string): ServableError {
  return new ServableError(
    'invalid_options',
    `\`${exportName}\` does not know the plugin \`${keeper}\`: give it to the handler of \`durableObjects(handler)\``,
  )
}
