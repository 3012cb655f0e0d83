/**
 * Sends the message of a request to the run at work of its session. The message is a stored run that waits for the session: the run at
 * work takes it from there, or it is the next run.
 *
 * @module
 */

import type { RunOptions } from '../../agents/contract.ts'
import { sessionOf } from '../../agents/memory.ts'
import type { AskedRun, Asker, StartedRun, StartParts } from './start-run.ts'

/** What became of a message for a run at work. */
export interface Steered {
  /** The run at work. */
  readonly into: string
  /** The run that the message starts if the other one ends first. Its record says which. */
  readonly next: string
  readonly messageId: string
  /** How many messages and runs are before it, and itself: from 1. */
  readonly position: number
}

/** Whether the message of a request may reach a run at work. */
export function maySteer(
  { target, sessionId, concurrency, readsSteered, memory, history, clientTools, replaces, webhook }: AskedRun,
  options: RunOptions,
  { runs, whyUnstored }: StartParts,
  asker: Asker,
): boolean {
  const how = runs.memory?.sessions?.steering
  const isAsked = concurrency === undefined ? readsSteered && how === 'always' : concurrency === 'steer'
  return (
    isAsked === true &&
    (how === 'always' || how === 'asked') &&
    target.servable.steering === true &&
    sessionId !== undefined &&
    [memory, history, clientTools?.[0], replaces, webhook, options.apiKeys].every(
      each => each === undefined,
    ) &&
    whyUnstored(asker) === undefined
  )
}

/** Sends the message. Undefined if no run is at work. Throws `session_busy` if too much waits. */
export async function steer(
  { target, input, messageId }: AskedRun,
  options: RunOptions,
  { runs, host }: StartParts,
  { owner }: Asker,
  start: (options: RunOptions) => Promise<StartedRun>,
): Promise<StartedRun | undefined> {
  const sessions = runs.memory?.sessions
  const key = sessionOf(runs.memory, target, options)
  const before = key && (await sessions?.atWork(key, input))
  if (before === undefined || key === undefined || sessions === undefined) return undefined
  const started = await start({ ...options, steers: true })
  const { id, isNew, record } = started
  if (!isNew && record?.status !== 'running') return started
  const run = { id, input, options, steers: true, cancel() {}, onWait() {} }
  const position = isNew ? await sessions.turnOf(key, target, run).join() : before.waiting
  // The other run has ended in the meantime.
  if (position === 0) return started
  const into = before.runId
  // A plain run has no record, and cannot be read from here.
  const other = await host.get(into, owner).catch(() => undefined)
  return started.into(other, { into, next: id, messageId: messageId ?? id, position })
}
