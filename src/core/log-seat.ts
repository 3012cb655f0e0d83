/**
 * Where log entries go.
 *
 * @module
 */

import { isFunction } from '../base/schemas.ts'
import type { Log } from '../http/log.ts'
import type { Observer } from '../runs/observer.ts'

/** Who writes the log. In development whoever serves the handler may do that in place of the console. */
export interface LogSeat {
  log: Log
  /** Whether each request is told to the log. */
  tellsRequests: boolean
  /** Is told of every run. */
  start?: Observer['start']
  /** Nobody has given a log, and this is development. */
  readonly isFree: boolean
}

const consoleLog: Log = entry => {
  if (entry.level === 'error') console.error(JSON.stringify(entry))
  else if (entry.level === 'warn') console.warn(JSON.stringify(entry))
  else if (entry.channel !== undefined) console.log(JSON.stringify(entry))
}

/** The seat of a handler with this `logger`: `false` turns logging off. */
export function logSeatOf(logger: Log | false = consoleLog, production: boolean): LogSeat {
  return {
    log: logger || (() => {}),
    tellsRequests: logger !== consoleLog && isFunction(logger),
    isFree: !production && logger === consoleLog,
  }
}

/** A log that fails must not make a request fail. */
export function guarded(seat: LogSeat): Log {
  return entry => {
    try {
      seat.log(entry)
    } catch {
      // There is nowhere left to say so.
    }
  }
}
