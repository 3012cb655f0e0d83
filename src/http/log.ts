/**
 * The log that a deployment gives.
 *
 * @module
 */

import { plain } from '../web/plain.ts'

/**
 * One entry of the log: `event` says what happened, the rest is numbers, names and outcomes; of a failure, `error` is an
 * `ErrorStory`.
 */
export interface LogEntry {
  readonly level: 'info' | 'warn' | 'error'
  readonly event: string
  /**
   * A log of its own inside the log: `audit`, `runs` or `service`. The log on the console shows its entries whatever their level.
   */
  readonly channel?: string
  readonly [field: string]: unknown
}

/** Takes log entries. What it throws is dropped. */
export type Log = (entry: LogEntry) => void

/** An id of a run or a task: who knows it may read that, unless it has an owner. */
const UUID = /\b([\da-f]{8})-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi

/** Most characters of a path in the log. */
const MAX_PATH = 500

/** A path as the log has it: ids are cut, unless they are of no use to others. */
export function loggedPath(path: string, isOwned = false): string {
  const text = plain(path.slice(0, MAX_PATH))
  return isOwned ? text : text.replace(UUID, '$1')
}
