/**
 * Cloudflare Workers.
 *
 * The door `runtimes` translates what one runtime has into what the core asks for. Begin with `server.ts` for Node, Bun and
 * Deno; here for Workers, whose Durable Objects are in `cloudflare/object.ts` and `cloudflare/run-object.ts`. May import every
 * door below.
 *
 * @module
 */

import { waitUntil } from 'cloudflare:workers'
import { ServableError } from '../base/errors.ts'
import type { Core } from '../core/built-in.ts'
import { coreOf } from '../core/handler.ts'
import type { HostedState, ObjectClassName } from '../core/hosted.ts'
import { STORED_RUNS } from '../core/stored-runs.ts'
import { SESSIONS_IN_STATE } from '../runs/sessions/session-storage.ts'
import { findObjects, NAMES, reach } from './cloudflare/bindings.ts'
import { createDurableHost } from './cloudflare/durable-host.ts'
import { type ServiceClass, serviceClass } from './cloudflare/object.ts'
import type { ObjectClass } from './cloudflare/platform.ts'
import { socketClass } from './cloudflare/socket-object.ts'
import type { WorkerContext } from './cloudflare/worker.ts'

export type { ObjectStorage } from '../stores/objects/tables.ts'
export { workerAssets } from './cloudflare/bindings.ts'
export type { ObjectClass, ObjectNamespace, ObjectState } from './cloudflare/platform.ts'
export { type WorkerContext, type WorkerFetch, worker } from './cloudflare/worker.ts'

/** How state is spread over Durable Objects. */
export interface DurableStateOptions {
  /**
   * Number of objects that share the clients of the event socket. One object serves about a thousand messages a second.
   * Default: 4.
   */
  readonly gateways?: number
  /** Number of objects that share the metrics of the isolates. Default: 2. */
  readonly metrics?: number
  /**
   * Number of objects that share the runs of clients without an identity. Each client always uses the same object. Each object
   * allows its share of `runs.maxRunning`. `docs/run/costs.md` states the load that one object handles. Default: 1.
   */
  readonly indexes?: number
  /**
   * Whether one more object lists the runs of all owners, for operators (`GET /runs?owner=*`). Each run then writes two rows more. Runs
   * from before are not in it. Default: false.
   */
  readonly listsAll?: boolean
}

/** Throws `invalid_options`. */
function checkCounts(counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts)) {
    if (Number.isInteger(count) && count >= 1 && count <= MAX_OBJECTS) continue
    const text = `durableState: \`${name}\` must be a whole number from 1 to ${MAX_OBJECTS}`
    throw new ServableError('invalid_options', text)
  }
}

/** Lists and scrapes ask all objects. */
const MAX_OBJECTS = 256

/**
 * Keeps state in Durable Objects. Every stored run executes in an object of its own, which also keeps the run. Each owner has one
 * object that lists the owner's runs. The bindings are found by name: `SERVABLE_RUN`, `SERVABLE_INDEX`, with a `gateway`
 * `SERVABLE_GATEWAY`, and with a `metricsExporter` `SERVABLE_METRICS`. If one is missing, `createHandler` throws
 * `invalid_options` with the lines to add.
 */
export function durableState({
  gateways = 4,
  metrics = 2,
  indexes = 1,
  listsAll = false,
}: DurableStateOptions = {}): HostedState {
  checkCounts({ gateways, metrics, indexes })
  const counts: Readonly<Partial<Record<ObjectClassName, number>>> = {
    gateway: gateways,
    metrics,
    index: indexes,
  }
  return {
    kind: 'hosted',
    storedRuns: STORED_RUNS,
    sessions: SESSIONS_IN_STATE,
    createHost(settings) {
      findObjects('run')
      findObjects('index')
      return createDurableHost(reach, settings, { indexes, listsAll })
    },
    listsAll,
    countOf: className => counts[className] ?? 1,
    reach,
    waitUntil: work => waitUntil(work),
    forward(className) {
      const objects = findObjects(className)
      return (name, request) => objects.getByName(name).fetch(request)
    },
  }
}

/** The classes that a Worker with {@link durableState} exports. */
export interface DurableObjectClasses {
  readonly ServableRun: ObjectClass
  readonly ServableIndex: ObjectClass
  /** Needed with a `gateway`. */
  readonly ServableGateway: ObjectClass
  /** Needed with a `metricsExporter`. */
  readonly ServableMetrics: ObjectClass
}

/**
 * Makes the Durable Object classes of a handler, so that a run finds its agents and plugins in the object. Make agents at
 * module level: an object does not find agents that are made during a request. Throws `invalid_options` if `handler` is not a
 * handler.
 *
 * @example
 * export const { ServableRun, ServableIndex, ServableGateway } = durableObjects(handler)
 */
export function durableObjects(handler: object): DurableObjectClasses {
  const core = coreOfHandler(handler, 'durableObjects')
  const classOf = (name: ServiceClass) => serviceClass(name, NAMES[name][1], core)
  return {
    ServableRun: classOf('run'),
    ServableIndex: classOf('index'),
    ServableGateway: socketClass(core),
    ServableMetrics: classOf('metrics'),
  }
}

/** The `scheduled` member of a Worker. */
export type WorkerScheduled = (controller: unknown, env: unknown, context: WorkerContext) => Promise<void>

/**
 * Makes the `scheduled` of a Worker, which Cloudflare calls by the `[triggers] crons` of `wrangler.toml`. It wakes plugins with
 * clock-driven work, such as `schedules`. After that, the alarms of their objects continue by themselves. So one call a day is
 * enough after the first; each call restores lost alarms. Throws `invalid_options` if `handler` is not a handler.
 *
 * @example
 * export default { fetch: worker(handler), scheduled: scheduled(handler) }
 */
export function scheduled(handler: object): WorkerScheduled {
  const { mounted } = coreOfHandler(handler, 'scheduled')
  return async () => {
    await Promise.all(mounted.map(({ ring }) => ring?.()))
  }
}

function coreOfHandler(handler: object, what: string): Core {
  const core = typeof handler === 'function' ? coreOf(handler) : undefined
  if (core !== undefined) return core
  throw new ServableError('invalid_options', `\`${what}\` needs a handler: ${what}(createHandler({ … }))`)
}
