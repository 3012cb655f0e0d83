/**
 * Sends the message of a request to the run at work of its session. The message is a stored run that waits for the session: the run at
 * work takes it from there, or it is the next run.
 *
 * @module
 */

import type { RunInput, RunOptions } from '../../agents/contract.ts'
import { sessionOf } from '../../agents/memory.ts'
import type { Conversation } from '../../runs/input.ts'
import type { HostSettings, RunHost } from '../../runs/stored/host.ts'
import type { Target } from '../../runs/target.ts'
import type { StartedRun } from './started-run.ts'

/** A request for a run, as far as this asks about it. */
interface Asked extends Conversation {
  readonly target: Target
  readonly input: RunInput
  readonly sessionId?: string | undefined
  readonly messageId?: string | undefined
  readonly replaces?: string | undefined
  readonly branchFrom?: string | undefined
  readonly ifHead?: string | undefined
  readonly webhook?: unknown
  readonly concurrency?: 'queue' | 'steer' | undefined
  readonly readsSteered?: boolean
}

/** Whether the message of a request may reach a run at work. */
export function maySteer(
  { target, sessionId, concurrency, readsSteered, memory, history, clientTools, webhook, ...asked }: Asked,
  options: RunOptions,
  { memory: kept }: Pick<HostSettings, 'memory'>,
): boolean {
  const how = kept?.sessions?.steering
  const isAsked = concurrency === undefined ? readsSteered && how === 'always' : concurrency === 'steer'
  return (
    isAsked === true &&
    (how === 'always' || how === 'asked') &&
    target.servable.steering === true &&
    sessionId !== undefined &&
    [memory, history, clientTools?.[0], webhook, options.apiKeys].every(each => each === undefined) &&
    [asked.replaces, asked.branchFrom, asked.ifHead].every(each => each === undefined)
  )
}

/** Sends the message. Undefined if no run is at work. Throws `session_busy` if too much waits. */
export async function steer(
  { target, input, messageId }: Asked,
  options: RunOptions,
  { runs, host }: { readonly runs: HostSettings; readonly host: RunHost },
  owner: string | null,
  start: (options: RunOptions) => Promise<StartedRun>,
): Promise<StartedRun | undefined> {
  const sessions = runs.memory?.sessions
  const key = sessionOf(runs.memory, target, options)
  const before = key && (await sessions?.atWork(key, input))
  if (before === undefined || key === undefined || sessions === undefined) return undefined
  const own = { ...options, steers: true }
  const started = await start(own)
  const { id, isNew, record } = started
  if (!isNew && record?.status !== 'running') return started
  const run = { id, input, options: own, cancel() {}, onWait() {} }
  const position = isNew ? await sessions.turnOf(key, target, run).join() : before.waiting
  // The other run has ended in the meantime.
  if (position === 0) return started
  const into = before.runId
  // A plain run has no record, and cannot be read from here.
  const other = await host.get(into, owner).catch(() => undefined)
  return started.into(other, { into, next: id, messageId: messageId ?? id, position })
}
