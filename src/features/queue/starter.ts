/**
 * Starts the runs that wait in the line, as places become free, and ends those that cannot start.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent } from '../../agents/contract.ts'
import { isServableError, reportError, ServableError } from '../../base/errors.ts'
import { later, type Wake } from '../../base/wake.ts'
import type { Calls } from '../../core/transaction-calls.ts'
import { logThrown } from '../../http/failure-log.ts'
import type { Log } from '../../http/log.ts'
import type { HostSettings, RunHost } from '../../runs/stored/host.ts'
import { MAX_DEATHS } from '../../stores/deaths.ts'
import { mayPass } from '../../stores/remote/patient.ts'
import { type Claimed, LINE, type LineTransactions, type Queued } from './line.ts'

/** Clients for which there is no place, after which a search for the next run ends. */
const MAX_FULL = 16

/** How a run ends whose start has ended one process after the other. */
const DEADLY: ErrorEvent = {
  type: 'error',
  code: 'interrupted',
  error: `The server stopped ${MAX_DEATHS} times in a row while it started the run`,
}

/** Milliseconds until the next try where the state cannot be reached. */
const RETRY_MS = 1000

/** What it needs of the handler. */
export interface StarterParts {
  readonly runs: HostSettings
  readonly log: Log
  /** Fires when a run here begins, or waits no more. Absent where each request has a life of its own. */
  readonly changed: Wake | undefined
  /** Keeps a request alive until the work is done, where it has a life of its own. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

/** See the module's head. */
export interface Starter {
  /** A server begins. Gives what ends it: after the last one, what waits is left to others. */
  serve(): () => void
  /** Starts what waits, as long as there are places. Where requests share memory one search is under way at a time. Never rejects. */
  onFree(): Promise<void>
  /** Keeps what became of a run that waited and does not start. */
  end(queued: Queued, event: FinishEvent | ErrorEvent): Promise<void>
}

/** Makes it. */
export function createStarter(
  host: RunHost,
  line: Calls<LineTransactions>,
  { runs, log, changed, waitUntil }: StarterParts,
): Starter {
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
      // An object's alarm looks again by itself.
      if (waitUntil === undefined) void later(RETRY_MS).then(onFree)
    } finally {
      // In the moment in which it is not asked again any more: whoever asks from now on begins another search.
      starting = undefined
    }
  }

  async function startSome(): Promise<void> {
    const full: string[] = []
    if ((await line.count(LINE)) === 0) return
    while (full.length < MAX_FULL && !isClosing) {
      const next = await line.claim(LINE, full)
      if (next === undefined) return
      if (!(await hasBegun(next))) full.push(next.queued.client)
    }
  }

  /** Starts a run. False, and it waits still, where there is no place for it. Throws where the state cannot be reached. */
  async function hasBegun({ queued, asked }: Claimed): Promise<boolean> {
    const { record, owner, client, begun = 1 } = queued
    const { id } = record
    if (begun > MAX_DEATHS) {
      await end(queued, DEADLY)
      return true
    }
    try {
      const target = runs.targetOf?.(asked.target)
      if (target === undefined)
        throw new ServableError('agent_not_found', 'The run cannot start: nobody runs it')
      const { input, options, continues, transport, keepsInput, webhook } = asked
      const request = { target, input, options: { ...options, runId: id }, owner, client, isBackground: true }
      await host.start({ ...request, continues, transport, keepsInput, webhook })
      await done(id)
      return true
    } catch (error) {
      const isFull = isTooMany(error)
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

  async function end({ record, owner, client }: Queued, event: FinishEvent | ErrorEvent): Promise<void> {
    const { id, kind, name, sessionId, userId, transport, createdAt } = record
    const target = { kind, name }
    const at = Date.parse(createdAt)
    await host.record({ id, target, options: { sessionId, userId }, owner, client, transport, at, event })
    await done(id)
  }

  async function done(id: string): Promise<void> {
    await line.done(LINE, id)
    changed?.fire()
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

/** Whether there is no place for a run. */
export function isTooMany(error: unknown): boolean {
  return isServableError(error) && error.code === 'too_many_runs'
}
