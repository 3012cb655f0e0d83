/**
 * What serving needs, made once from the options: for a handler, and for the Durable Objects beside it.
 *
 * @module
 */

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
}

/** Checks the options. Throws `invalid_options` that names what is wrong. */
export function createService(options: HandlerOptions): Service {
  const settings = resolveOptions(options)
  const { production, log } = settings
  const onFailure = (failure: RunFailure) => logFailure(log, failure)
  return { settings, catalog: createCatalog(settings), runs: { ...settings.runs, production, onFailure } }
}

/** A run's id is a capability, so a log line shows the start of it only. */
function logFailure(log: Log, { runId, ...failure }: RunFailure): void {
  log({ level: 'error', event: 'run.failed', ...failure, runId: runId.slice(0, 8) })
}
