/**
 * Failures as log entries: the thrown value with its causes and stack, the request and the run.
 *
 * @module
 */

import type { RunFailure } from '../runs/failures.ts'
import { refOf } from '../runs/stored/record.ts'
import { cleanText, storyOf } from './error-story.ts'
import type { Log, LogEntry } from './log.ts'

/** Logs a thrown value. `entry` has the event and its context. */
export function logThrown(
  log: Log,
  entry: Pick<LogEntry, 'event'> & Partial<LogEntry>,
  thrown: unknown,
  secrets: readonly string[] = [],
): void {
  const error = storyOf(thrown, secrets)
  log({ level: 'error', ...entry, message: error.message, error })
}

/** Logs a failure of a run, or in one. A failure that the run survived is a warning. */
export function logFailure(log: Log, failure: RunFailure): void {
  const { event, kind, name, of, code, message, runId, owner, requestId, taskId, thrown, secrets } = failure
  const inner = { 'tool.failed': 'tool', 'step.failed': 'step' } as const
  const isInner = event === 'tool.failed' || event === 'step.failed'
  log({
    level: isInner ? 'warn' : 'error',
    event,
    kind,
    name,
    ...(isInner && { [inner[event]]: cleanText(of ?? 'unknown', secrets) }),
    code,
    message: cleanText(message, secrets),
    runId: refOf(runId, owner),
    ...(taskId !== undefined && { taskId: refOf(taskId, owner) }),
    ...(requestId !== undefined && { requestId }),
    ...(thrown !== undefined && { error: storyOf(thrown, secrets) }),
  })
}
