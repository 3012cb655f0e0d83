/**
 * What serving needs, made once from the options: for a handler, and for the Durable Objects beside it.
 *
 * @module
 */

import { resolveA2A } from './a2a/options.ts'
import type { TaskSettings } from './a2a/task-host.ts'
import { type Catalog, createCatalog } from './http/catalog.ts'
import type { Log } from './http/context.ts'
import { type HandlerOptions, resolveOptions, type Settings } from './options.ts'
import type { HostSettings } from './runs/host.ts'
import type { RunFailure } from './runs/run.ts'

/** The checked options and what comes of them. */
export interface Service {
  readonly settings: Settings
  readonly catalog: Catalog
  readonly runs: HostSettings
  /** The agents that A2A offers. */
  readonly a2aAgents: Catalog
  readonly tasks: TaskSettings
}

/** Checks the options. Throws `invalid_options` that names what is wrong. */
export function createService(options: HandlerOptions): Service {
  const settings = resolveOptions(options)
  const { production, log } = settings
  const onFailure = (failure: RunFailure) => logFailure(log, failure)
  const runs = { ...settings.runs, production, onFailure }
  const catalog = createCatalog(settings)
  const { agents, maxTasksPerOwner, maxHistory, maxSubscribers } = settings.a2a ?? resolveA2A({})
  return {
    settings,
    catalog,
    runs,
    a2aAgents: agents === undefined ? catalog : createCatalog({ agents, registry: undefined }),
    tasks: { ...runs, maxTasksPerOwner, maxHistory, maxFollowers: maxSubscribers },
  }
}

/** A run's id is a capability, so a log line shows the start of it only. */
function logFailure(log: Log, { runId, ...failure }: RunFailure): void {
  log({ level: 'error', event: 'run.failed', ...failure, runId: runId.slice(0, 8) })
}
