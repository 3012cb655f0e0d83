/** The output of servers at their start, and the log in development. */

import { isTest } from '../base/environment.ts'
import { coreOf } from '../core/handler.ts'
import { prettyLog } from '../features/logs/pretty.ts'
import { observeRuns } from '../features/logs/runs.ts'
import { startedEntry } from '../features/logs/started.ts'
import { credentialOf } from '../http/security/credential.ts'
import { identifyLocal } from '../http/security/local.ts'

/**
 * Makes the log of a handler readable, if this is development and the deployment has no `logger`. Does nothing for other code's
 * handler, and in tests.
 */
export function useReadableLog(handler: object): void {
  const core = coreOf(handler)
  if (core === undefined || isTest()) return
  const { logBinding } = core.settings
  // A handler may have several servers.
  if (!logBinding.isFree || logBinding.start !== undefined) return
  const log = prettyLog()
  Object.assign(logBinding, { log, logsRequests: true, start: observeRuns(log, core.runs.costOf).start })
}

/**
 * Gives the visitors of a development server the identity `local`, if the server listens on this machine alone and its handler has no
 * ready-made authentication. Other middleware may refuse them, or identify them otherwise. A handler that another server offers to
 * other machines has no such visitors.
 */
export function identifyLocals(handler: object, isLoopback: boolean): void {
  const core = coreOf(handler)
  if (core === undefined || core.production) return
  if (core.settings.middleware.some(each => credentialOf(each) !== undefined)) return
  const { locals } = core
  locals.isExposed ||= !isLoopback
  locals.identify = locals.isExposed ? undefined : identifyLocal
}

/** Logs what is served and where. Does nothing for other code's handler, and in tests. */
export function logStarted(handler: object, url?: string): void {
  const core = coreOf(handler)
  if (core !== undefined && !isTest()) core.log(startedEntry(core, url))
}
