/**
 * The log of a deployment.
 *
 * @module
 */

import { plain } from '../web/plain.ts'

/**
 * One entry of the log. `event` names what happened. The rest is numbers, names and outcomes. For a failure, `error` is an
 * `ErrorStory`.
 */
export interface LogEntry {
  readonly level: 'info' | 'warn' | 'error'
  readonly event: string
  /**
   * A separate log inside the log: `audit`, `runs` or `service`. The log on the console shows its entries at any level.
   */
  readonly channel?: string
  readonly [field: string]: unknown
}

/** Takes log entries. Its errors are dropped. */
export type Log = (entry: LogEntry) => void

/** An id of a run or a task. Without an owner, every caller that knows it may read the run or task. */
const UUID = /\b([\da-f]{8})-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi

/** The most characters of a path in the log. */
const MAX_PATH = 500

/** A path for the log: ids are shortened, unless others cannot use them. */
export function loggedPath(path: string, isOwned = false): string {
  const text = plain(path.slice(0, MAX_PATH))
  return isOwned ? text : text.replace(UUID, '$1')
}
