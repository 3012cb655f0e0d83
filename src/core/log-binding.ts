/**
 * The destination of log entries.
 *
 * @module
 */

import { isFunction } from '../base/schemas.ts'
import type { Log } from '../http/log.ts'
import type { Observer } from '../runs/observer.ts'

/** Writes the log. In development, the server that serves the handler may replace it. */
export interface LogBinding {
  log: Log
  /** Whether every request is logged. */
  logsRequests: boolean
  /** Observes every run. */
  start?: Observer['start']
  /** Whether the options have no logger and this is development. */
  readonly isFree: boolean
}

const consoleLog: Log = entry => {
  if (entry.level === 'error') console.error(JSON.stringify(entry))
  else if (entry.level === 'warn') console.warn(JSON.stringify(entry))
  else if (entry.channel !== undefined) console.log(JSON.stringify(entry))
}

/** The binding for an option `logger`. `false` turns logging off. */
export function logBindingOf(logger: Log | false = consoleLog, production: boolean): LogBinding {
  return {
    log: logger || (() => {}),
    logsRequests: logger !== consoleLog && isFunction(logger),
    isFree: !production && logger === consoleLog,
  }
}

/** A log that ignores its own errors, so that no request fails. */
export function guarded(binding: LogBinding): Log {
  return entry => {
    try {
      binding.log(entry)
    } catch {
      // There is no other place to report the error.
    }
  }
}
