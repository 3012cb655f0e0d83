/**
 * Starts queued runs when slots become free, and ends those that cannot start.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent } from '../../agents/contract.ts'
import { isServableError, reportError, ServableError } from '../../base/errors.ts'
import { later, type Wake } from '../../base/wake.ts'
import type { Calls } from '../../core/transaction-calls.ts'
import { logThrown } from '../../http/failure-log.ts'
import type { Log } from '../../http/log.ts'
import { isTooMany } from '../../runs/admission.ts'
import type { HostSettings, QueuedTasks, RunHost, StartRequest } from '../../runs/stored/host.ts'
import type { Target } from '../../runs/target.ts'
import { MAX_DEATHS } from '../../stores/deaths.ts'
import { mayPass } from '../../stores/remote/retrying.ts'
import { type ClaimedRun, LINE, type LineTransactions, pausedName, type QueuedRecord } from './line.ts'

/** Number of clients without a free slot after which a search for the next run ends. */
const MAX_FULL = 16

/** The end of a run whose start has crashed several processes in a row. */
const DEADLY: ErrorEvent = {
  type: 'error',
  code: 'interrupted',
  error: `The server stopped ${MAX_DEATHS} times in a row while it started the run`,
}

/** Milliseconds until the next try if the state cannot be reached. */
const RETRY_MS = 1000

/** The parts of the handler that the starter uses. */
export interface StarterParts {
  readonly runs: HostSettings
  readonly log: Log
  /** Fires when a run of this process begins or leaves the queue. Absent if each request has its own isolate. */
  readonly changed: Wake | undefined
  /** Keeps the isolate of a request alive until the work is done. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

/** Returns what starts queued tasks. Throws if no plugin has tasks. */
interface StartsTasks {
  readonly tasks: () => QueuedTasks
}

/** Starts and ends queued runs. */
export interface Starter {
  /**
   * Called when a server begins. Returns a function to call when it ends. After the last one, queued runs are left to other
   * processes.
   */
  serve(): () => void
  /** Starts queued runs while slots are free. Only one search runs at a time in this memory. Never rejects. */
  onFree(): Promise<void>
  /** Stores the end of a queued run that does not start. */
  end(queued: QueuedRecord, event: FinishEvent | ErrorEvent): Promise<void>
}

/** Creates the starter. */
export function createStarter(
  host: RunHost,
  line: Calls<LineTransactions>,
  parts: StarterParts & StartsTasks,
): Starter {
  const { log, runs, waitUntil } = parts
  const { hasBegun, end } = beginningOf(host, line, parts)
  let starting: Promise<void> | undefined
  let isAskedAgain = false
  let servers = 0
  let isClosing = false

  function onFree(): Promise<void> {
    isAskedAgain = true
    if (waitUntil !== undefined) return startAll()
    starting ??= startAll()
    return starting
  }

  async function startAll(): Promise<void> {
    try {
      do {
        isAskedAgain = false
        await startSome()
      } while (isAskedAgain)
    } catch (error) {
      logThrown(log, { event: 'queue.failed' }, error)
      // The alarm of an object retries by itself.
      if (waitUntil === undefined) void later(RETRY_MS).then(onFree)
    } finally {
      // Cleared in the same turn as the last check: later calls begin another search.
      starting = undefined
    }
  }

  async function startSome(): Promise<void> {
    const full: string[] = []
    if ((await line.count(LINE)) === 0) return
    while (full.length < MAX_FULL && !isClosing) {
      const paused = (await runs.brake?.known())?.all ?? []
      const next = await line.claim(LINE, full, paused.map(pausedName))
      if (next === undefined) return
      if (!(await hasBegun(next))) full.push(next.queued.client)
    }
  }

  return {
    serve() {
      servers++
      isClosing = false
      let isOver = false
      return () => {
        if (!isOver) isClosing = --servers === 0
        isOver = true
      }
    },
    onFree,
    end,
  }
}

function requestOf({ queued, asked }: ClaimedRun, target: Target): StartRequest {
  const { record, owner, client } = queued
  const { input, options, continues, transport, keepsInput, webhook, retryOf } = asked
  const request = {
    target,
    input,
    options: { ...options, runId: record.id },
    owner,
    client,
    isBackground: true,
  }
  return { ...request, continues, transport, keepsInput, webhook, retryOf }
}

/** Makes the functions that start or end one queued run. */
function beginningOf(
  host: RunHost,
  line: Calls<LineTransactions>,
  { runs, changed, tasks }: StarterParts & StartsTasks,
): { hasBegun(claimed: ClaimedRun): Promise<boolean>; end: Starter['end'] } {
  /** Starts a run. Returns false if it stays queued: there is no slot, or its agent is paused. Throws if the state cannot be reached. */
  async function hasBegun({ queued, asked }: ClaimedRun): Promise<boolean> {
    const { record, begun = 1 } = queued
    const { id } = record
    if (begun > MAX_DEATHS) {
      await end(queued, DEADLY)
      return true
    }
    try {
      const target = runs.targetOf?.(asked.target)
      if (target === undefined)
        throw new ServableError('agent_not_found', 'The run cannot start: nobody runs it')
      if (record.taskId !== undefined) await tasks().start(record.taskId, id)
      else await host.start(requestOf({ queued, asked }, target))
      await done(id)
      return true
    } catch (error) {
      // It stays queued until its agent is resumed.
      const isFull = isTooMany(error) || isPaused(error)
      if (isFull || !isServableError(error) || mayPass(error)) {
        await line.release(LINE, id)
        if (isFull) return false
        throw error
      }
      const { code, message } = reportError(error, runs.production, 'internal_error')
      await end(queued, { type: 'error', code, error: message })
      return true
    }
  }

  async function end(
    { record, owner, client }: QueuedRecord,
    event: FinishEvent | ErrorEvent,
  ): Promise<void> {
    const { id, kind, name, sessionId, userId, transport, createdAt, taskId } = record
    const target = { kind, name }
    const at = Date.parse(createdAt)
    const options = { sessionId, userId }
    if (taskId !== undefined) await tasks().end(taskId, id, event)
    if (taskId === undefined || runs.store === 'all')
      await host.record({ id, target, options, owner, client, transport, taskId, at, event })
    await done(id)
  }

  async function done(id: string): Promise<void> {
    await line.done(LINE, id)
    changed?.fire()
  }

  return { hasBegun, end }
}

function isPaused(error: unknown): boolean {
  return isServableError(error) && error.code === 'agent_paused'
}
