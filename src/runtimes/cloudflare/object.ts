/**
 * The Durable Objects that store state: runs and tasks, lists, the data of owners and keys, metrics. The services of the core and
 * of plugins do their work.
 *
 * @module
 */

import { DurableObject } from 'cloudflare:workers'
import { ServableError } from '../../base/errors.ts'
import type { Core } from '../../core/built-in.ts'
import type { ObjectClassName, ObjectContext, ObjectService, ObjectServiceMaker } from '../../core/hosted.ts'
import { createMutex } from '../../core/mutex.ts'
import { objectServiceOf } from '../../core/object-service.ts'
import type { Transactions } from '../../core/transaction-calls.ts'
import { logThrown } from '../../http/failure-log.ts'
import { SESSIONS_IN_STATE } from '../../runs/sessions/session-storage.ts'
import { type ObjectStore, objectStore } from '../../stores/objects/store.ts'
import type { ObjectStorage } from '../../stores/objects/tables.ts'
import { answering, type RpcAnswer, reach } from './bindings.ts'
import type { ObjectClass, ObjectState } from './platform.ts'
import { createRunIndex, RUN_SERVICE } from './run-index.ts'
import { createRunObject } from './run-object.ts'

/** Milliseconds before an alarm is repeated if the work of a service failed. */
const RETRY_MS = 60_000

/** The same, if this version cannot read the storage. Only another deployment helps. */
const UNREADABLE_MS = 60 * 60 * 1000

/** The classes whose objects have services. */
export type ServiceClass = Exclude<ObjectClassName, 'gateway'>

/** Makes a class of Durable Objects. */
export function serviceClass(className: ServiceClass, exportName: string, core: Core): ObjectClass {
  const makers = makersOf(className, core)
  return class extends DurableObject {
    readonly #state: ObjectState
    readonly #store: ObjectStore
    readonly #alarm: Alarm
    readonly #services = new Map<string, ObjectService>()
    readonly #answer = answering(() => core.log)

    constructor(state: ObjectState, env: unknown) {
      // If a user has the runtime's own types, they type the base class.
      super(state as never, env as never)
      this.#state = state
      this.#store = objectStore(state.storage)
      this.#alarm = new Alarm(state.storage)
    }

    /** Calls a method of the service with that name. An object has no other interface. */
    ask(service: string, method: string, args: readonly unknown[]): Promise<RpcAnswer<unknown>> {
      return this.#answer(() => this.#service(service).ask(method, args))
    }

    override async alarm(): Promise<void> {
      try {
        if (this.#store.isEmpty()) return
      } catch (error) {
        this.#logError(error)
        return this.#alarm.set(Date.now() + UNREADABLE_MS)
      }
      const isSet = await this.#alarm.ring(async () => {
        for (const name of makers.keys()) await this.#lookAfter(name)
      })
      if (!isSet && !this.#store.isEmpty() && !this.#store.holdsBeside([])) await this.#store.clear()
    }

    async #lookAfter(name: string): Promise<void> {
      try {
        await this.#service(name).alarm?.()
      } catch (error) {
        this.#logError(error)
        await this.#alarm.set(Date.now() + RETRY_MS)
      }
    }

    #logError(error: unknown): void {
      logThrown(core.log, { event: 'object.failed' }, error)
    }

    #service(name: string): ObjectService {
      const made = this.#services.get(name)
      if (made !== undefined) return made
      const make = makers.get(name)
      if (make === undefined) throw missing(exportName, name)
      const service = make(this.#contextOf(name), core)
      this.#store.holdInMemory(service.inMemory ?? [])
      this.#services.set(name, service)
      return service
    }

    #contextOf(name: string): ObjectContext {
      const store = this.#store
      const isShared = () => store.holdsBeside(this.#services.get(name)?.collections ?? [])
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

/** The makers of services of a class, by name: the core's own and those of the plugins. */
function makersOf(className: ServiceClass, core: Core): ReadonlyMap<string, ObjectServiceMaker<Core>> {
  const makers = new Map<string, ObjectServiceMaker<Core>>()
  const add = (name: string, transactions: Transactions) =>
    makers.set(name, context => objectServiceOf(context, transactions))
  if (className === 'run') makers.set(RUN_SERVICE, createRunObject)
  if (className === 'index') {
    makers.set(RUN_SERVICE, createRunIndex)
    add(SESSIONS_IN_STATE.name, SESSIONS_IN_STATE.transactions)
  }
  for (const { plugin, name } of core.mounted) {
    if (className === 'index') {
      for (const [service, each] of Object.entries(plugin.transactions ?? {})) add(service, each)
      const { kept } = plugin
      if (kept !== undefined) add(name, kept.over(name))
    }
    const make = plugin.objectServices?.[className]
    if (make !== undefined) makers.set(name, make)
  }
  return makers
}

function missing(exportName: string, service: string): ServableError {
  return new ServableError(
    'invalid_options',
    `\`${exportName}\` does not know the plugin \`${service}\`: give it to the handler of \`durableObjects(handler)\``,
  )
}

/**
 * The one alarm of an object, in whole milliseconds. Setting it is billed like a row, so it is set only if its time changes.
 * During an alarm it is set once, after all work has requested its next time.
 */
class Alarm {
  readonly #storage: ObjectStorage
  /** The earliest time requested during the current alarm. Undefined outside of alarms. */
  #soonest: number | undefined
  /** Runs one change at a time, since each reads the alarm before it sets it. */
  readonly #inTurn = createMutex()

  constructor(storage: ObjectStorage) {
    this.#storage = storage
  }

  /** Sets the alarm to this time or earlier, or with `isExact` to exactly this time. */
  async set(at: number, isExact = false): Promise<void> {
    const time = Math.ceil(at)
    if (this.#soonest !== undefined) {
      this.#soonest = Math.min(this.#soonest, time)
      return
    }
    await this.#inTurn(async () => {
      const set = (await this.#storage.getAlarm()) ?? 0
      // An overdue alarm may have been lost. One that is not set counts as overdue.
      if (isExact ? set !== time : set > time || set < Date.now()) await this.#storage.setAlarm(time)
    })
  }

  /** Forgets the alarm, after everything was deleted. */
  forget(): void {
    this.#soonest &&= Number.POSITIVE_INFINITY
  }

  /** Runs the work of an alarm. `work` requests the next time. Returns false if it requests none. */
  async ring(work: () => Promise<void>): Promise<boolean> {
    this.#soonest = Number.POSITIVE_INFINITY
    await work()
    const soonest = this.#soonest
    this.#soonest = undefined
    const isSet = soonest < Number.POSITIVE_INFINITY
    // The runtime forgets an alarm that is set to the exact millisecond of the current one.
    if (isSet) await this.set(Math.max(Date.now() + 1, soonest))
    return isSet
  }
}
