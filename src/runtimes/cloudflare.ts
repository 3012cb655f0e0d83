/**
 * Cloudflare Workers.
 *
 * @module
 */

import { ServableError } from '../errors.ts'
import type { HandlerOptions, HostedState } from '../options.ts'
import { openService, type Service } from '../service.ts'
import { sha256 } from '../web/digest.ts'
import { findBindings } from './cloudflare/bindings.ts'
import { connectDurableGateway } from './cloudflare/durable-gateway.ts'
import { createDurableHost } from './cloudflare/durable-host.ts'
import { createDurableKeeper } from './cloudflare/durable-keeper.ts'
import { createDurableSessions } from './cloudflare/durable-sessions.ts'
import { createDurableTaskHost } from './cloudflare/durable-task-host.ts'
import { connectDurableToolServers } from './cloudflare/durable-tool-servers.ts'
import { gatewayObjectClass } from './cloudflare/gateway-object.ts'
import { indexObjectClass } from './cloudflare/index-object.ts'
import { indexOf } from './cloudflare/kept.ts'
import { metricsObjectClass } from './cloudflare/metrics-object.ts'
import type { ObjectClass } from './cloudflare/platform.ts'
import { unwrap } from './cloudflare/rpc.ts'
import { runObjectClass } from './cloudflare/run-object.ts'

export { workerAssets } from './cloudflare/assets.ts'
export type { ObjectClass, ObjectNamespace, ObjectState, ObjectStorage } from './cloudflare/platform.ts'
export { type WorkerContext, type WorkerFetch, worker } from './cloudflare/worker.ts'

/** How state is spread over objects. */
export interface DurableStateOptions {
  /** Objects that share the clients of the event socket. Default 4; one serves about a thousand messages a second. */
  readonly gateways?: number
  /** Objects that share what isolates hand over of the metrics. Default 2. */
  readonly metrics?: number
  /**
   * Objects that share the runs of clients without an identity, each client's with the same one. Each lets its share of
   * `runs.maxRunning` be at work. Default 1, which all those runs meet in; see `docs/workers-costs.md` for what one bears.
   */
  readonly indexes?: number
}

/** Throws `invalid_options`. */
function checkCounts(counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts)) {
    if (Number.isInteger(count) && count >= 1 && count <= MAX_OBJECTS) continue
    const text = `durableState: \`${name}\` must be a whole number from 1 to ${MAX_OBJECTS}`
    throw new ServableError('invalid_options', text)
  }
}

/** A list, and a scrape, asks all of them. */
const MAX_OBJECTS = 256

/**
 * Keeps state in Durable Objects: every stored run executes and is kept in an object of its own, and one object an
 * owner lists them. The bindings `SERVABLE_RUN`, `SERVABLE_INDEX` and, with a `gateway` or a `metricsExporter`,
 * `SERVABLE_GATEWAY` and `SERVABLE_METRICS` are looked up by name; `createHandler` throws `invalid_options` that says what
 * to write where one is missing.
 */
export function durableState({
  gateways = 4,
  metrics = 2,
  indexes = 1,
}: DurableStateOptions = {}): HostedState {
  checkCounts({ gateways, metrics, indexes })
  return {
    kind: 'hosted',
    createHost: settings => createDurableHost(findBindings(), settings, indexes),
    createTaskHost: () => createDurableTaskHost(findBindings()),
    connectGateway: () => connectDurableGateway(gateways),
    keepCorrections: () => ({
      add: (correction, owner) => indexOf(owner).addCorrection(correction, owner),
      list: query => unwrap(indexOf(query.owner).listCorrections(query)),
    }),
    keepSessions: createDurableSessions,
    countRequests: windowMs => async key => {
      const client = await sha256(key)
      return findBindings().index.getByName(`rate:${client}`).countRequest(client, windowMs)
    },
    connectToolServers: connectDurableToolServers,
    keepMetrics: (core, onError) => createDurableKeeper(core, metrics, onError),
  }
}

/** The classes that a Worker with {@link durableState} exports. */
export interface DurableObjectClasses {
  readonly ServableRun: ObjectClass
  readonly ServableIndex: ObjectClass
  /** Needed where there is a `gateway`. */
  readonly ServableGateway: ObjectClass
  /** Needed where there is a `metricsExporter`. */
  readonly ServableMetrics: ObjectClass
}

/**
 * Makes the Durable Object classes for the same options as the handler's, so that the same agents exist wherever a
 * run executes. Agents that are made during a request are not there: make them at module level.
 *
 * @example
 * export const { ServableRun, ServableIndex, ServableGateway } = durableObjects(options)
 */
export function durableObjects(options: HandlerOptions): DurableObjectClasses {
  let made: Service | undefined
  const service = () => {
    made ??= openService(options)
    return made
  }
  return {
    ServableRun: runObjectClass(service),
    ServableIndex: indexObjectClass(service),
    ServableGateway: gatewayObjectClass(service),
    ServableMetrics: metricsObjectClass(),
  }
}
