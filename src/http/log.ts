/** The log that a deployment gives. */

/**
 * One entry of the log: `event` says what happened, the rest is numbers, names and outcomes; of a failure, `error` is an
 * `ErrorStory`.
 */
export interface LogEntry {
  readonly level: 'info' | 'warn' | 'error'
  readonly event: string
  readonly [field: string]: unknown
}

/** Takes log entries. What it throws is dropped. */
export type Log = (entry: LogEntry) => void
