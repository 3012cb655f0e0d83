/** What the objects of runs and of tasks have in common. */

import type { Kind } from '../../agents/contract.ts'
import { isServableError, ServableError } from '../../errors.ts'
import type { Settings } from '../../options.ts'
import type { HostSettings } from '../../runs/host.ts'
import type { Target } from '../../runs/target.ts'

/** Milliseconds between looks at what is at work: so long at the most is an evicted one thought to be running. */
export const WATCH_MS = 30_000

/** Milliseconds after which an index that could not be told is told again. */
export const RETRY_MS = 10_000

/** The settings of a host, for an object: rows are paid for there, and so is the time in which it waits. */
export function settingsHere<T extends HostSettings>(settings: T, { metricsExporter }: Settings): T {
  const meter = settings.meter && metricsExporter?.core.hurried(settings.meter)
  return { ...settings, gatherMs: GATHER_MS, meter }
}

/** Milliseconds for which events that come one by one are gathered into one row: nobody sees that a text comes as often. */
const GATHER_MS = 50

/** A servable by name. One that is made during a request lives in that isolate only, so it may be unknown here. */
export function resolveHere(
  catalog: { resolve(kind: Kind, name: string): Target },
  kind: Kind,
  name: string,
): Target {
  try {
    return catalog.resolve(kind, name)
  } catch (cause) {
    const code = isServableError(cause) ? cause.code : 'agent_not_found'
    const text = `${kind} \`${name}\` is not known where stored runs execute: make it at module level`
    throw new ServableError(code, text, { cause })
  }
}
