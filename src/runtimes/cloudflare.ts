/**
 * Cloudflare Workers.
 *
 * @module
 */

import type { HandlerOptions, HostedState } from '../options.ts'
import { createService, type Service } from '../service.ts'
import { findBindings } from './cloudflare/bindings.ts'
import { createDurableHost } from './cloudflare/durable-host.ts'
import { createDurableTaskHost } from './cloudflare/durable-task-host.ts'
import { indexObjectClass } from './cloudflare/index-object.ts'
import type { ObjectClass } from './cloudflare/platform.ts'
import { runObjectClass } from './cloudflare/run-object.ts'

export type { ObjectClass, ObjectNamespace, ObjectState, ObjectStorage } from './cloudflare/platform.ts'
export { type WorkerContext, type WorkerFetch, worker } from './cloudflare/worker.ts'

/**
 * Keeps state in Durable Objects: every followed run executes and is kept in an object of its own, and one object an
 * owner lists them. The bindings `SERVABLE_RUN` and `SERVABLE_INDEX` are looked up by name; `createHandler` throws
 * `invalid_options` that says what to write where one is missing.
 */
export function durableState(): HostedState {
  return {
    kind: 'hosted',
    createHost: settings => createDurableHost(findBindings(), settings),
    createTaskHost: () => createDurableTaskHost(findBindings()),
  }
}

/** The classes that a Worker with {@link durableState} exports. */
export interface DurableObjectClasses {
  readonly ServableRun: ObjectClass
  readonly ServableIndex: ObjectClass
}

/**
 * Makes the Durable Object classes for the same options as the handler's, so that the same agents exist wherever a
 * run executes. Agents that are made during a request are not there: make them at module level.
 *
 * @example
 * export const { ServableRun, ServableIndex } = durableObjects(options)
 */
export function durableObjects(options: HandlerOptions): DurableObjectClasses {
  let made: Service | undefined
  const service = () => {
    made ??= createService(options)
    return made
  }
  return { ServableRun: runObjectClass(service), ServableIndex: indexObjectClass(service) }
}
