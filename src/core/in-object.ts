/**
 * Rules for runs in a Durable Object, where time and rows cost money.
 *
 * @module
 */

import type { Kind } from '../agents/contract.ts'
import { isServableError, ServableError } from '../base/errors.ts'
import type { Catalog } from '../http/catalog.ts'
import { logThrown } from '../http/failure-log.ts'
import { observeBy } from '../runs/observer.ts'
import type { HostSettings } from '../runs/stored/host.ts'
import type { Target } from '../runs/target.ts'
import type { Core } from './built-in.ts'

/** Milliseconds for which single events are gathered into one row. The delay is too short to notice. */
const GATHER_MS = 50

/** The settings of stored runs inside a Durable Object. */
export function runsInObject({ runs, mounted, log }: Pick<Core, 'runs' | 'mounted' | 'log'>): HostSettings {
  const observers = mounted.flatMap(({ name, plugin }) => {
    const observer = plugin.observerInObject ?? plugin.observer
    return observer === undefined ? [] : [{ name, observer }]
  })
  const onError = (plugin: string, thrown: unknown) =>
    logThrown(log, { event: 'observer.failed', plugin }, thrown)
  // There a row that is deleted costs more than what it keeps.
  return { ...runs, piecesMs: undefined, gatherMs: GATHER_MS, observer: observeBy(observers, onError) }
}

/** A servable by name. One that is made during a request lives in that isolate only, so it may be unknown here. */
export function resolveInObject(catalog: Pick<Catalog, 'resolve'>, kind: Kind, name: string): Target {
  try {
    return catalog.resolve(kind, name)
  } catch (cause) {
    const code = isServableError(cause) ? cause.code : 'agent_not_found'
    const text = `${kind} \`${name}\` is not known in the Durable Object of the run: make it at module level`
    throw new ServableError(code, text, { cause })
  }
}
