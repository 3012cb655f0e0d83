/**
 * Stands before the host of stored runs: background runs for which there is no place wait in a line, and start one after the other
 * as places become free.
 *
 * @module
 */

import type { Answer, ErrorEvent, FinishEvent } from '../agents/contract.ts'
import { hasKeys } from '../agents/redacted.ts'
import type { Calls, Keep } from '../core/kept.ts'
import { isServableError, reportError, ServableError } from '../errors.ts'
import { logThrown } from '../http/failure-log.ts'
import type { Log } from '../http/log.ts'
import { tooManyRuns } from '../runs/admission.ts'
import type { Asking } from '../runs/asking.ts'
import type { EndedRun } from '../runs/ended-run.ts'
import { type Feedback, type FeedbackInput, stillAtWork } from '../runs/feedback.ts'
import type {
  Follower,
  HostSettings,
  ResumedRun,
  ResumeRequest,
  RunHost,
  RunPage,
  RunQuery,
  StartRequest,
  Viewer,
} from '../runs/host.ts'
import { type Asked, toAsked } from '../runs/journal.ts'
import { inputNotKept, newRun } from '../runs/local-host.ts'
import type { EventQuery, LogPage } from '../runs/log-page.ts'
import { type FoundRun, isWholeId, partitionOf, type RunRecord } from '../runs/record.ts'
import type { Target } from '../runs/target.ts'
import type { AnsweredBy, AnsweredRun, WaitingRun } from '../runs/waiting.ts'
import { mayPass } from '../state/patient.ts'
import { later, type Wake } from '../wake.ts'
import { begun, NOTHING, QueuedFollower } from './follower.ts'
import {
  type Claimed,
  LINE,
  LINE_TRANSACTIONS,
  type LineTransactions,
  MAX_PRIORITY,
  NAME,
  type OfSession,
  type QueueBounds,
  type Queued,
} from './line.ts'

/** What a run's priority is chosen by. */
export interface QueuedRun extends Pick<Target, 'kind' | 'name'> {
  /** The identity that owns it; null where there is none. */
  readonly owner: string | null
  readonly sessionId?: string | undefined
}

/** How runs wait. */
export interface QueueSettings extends QueueBounds {
  readonly priorityOf: ((run: QueuedRun) => number) | undefined
}

/** What the host needs of the handler. */
export interface QueueParts {
  readonly runs: HostSettings
  readonly keep: Keep
  readonly log: Log
  readonly settings: QueueSettings
  /** Fires when a run here begins, or waits no more. Absent where each request has a life of its own. */
  readonly changed: Wake | undefined
  /** Keeps a request alive until the work is done, where it has a life of its own. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

/** Most characters of what a run is asked with, as JSON: one with more is refused where there is no place. */
const MAX_LENGTH = 1_048_576

/** Clients for which there is no place, after which a search for the next run ends. */
const MAX_FULL = 16

/** Milliseconds until a run is looked at again that another process starts or cancels, and how often that is done. */
const CLAIMED_MS = 50
const CLAIMED_TRIES = 100

/** Milliseconds until the next try where the state cannot be reached. */
const RETRY_MS = 1000

/** See the module's head. */
export class QueueHost implements RunHost {
  readonly #host: RunHost
  readonly #parts: QueueParts
  readonly #line: Calls<LineTransactions>
  #starting: Promise<void> | undefined
  #isAskedAgain = false
  #servers = 0
  #isClosing = false

  constructor(host: RunHost, parts: QueueParts) {
    this.#host = host
    this.#parts = parts
    this.#line = parts.keep(NAME, LINE_TRANSACTIONS)
  }

  async start(request: StartRequest): Promise<RunRecord> {
    const { key, options, owner, isBackground } = request
    // Provider keys are never stored, so a run that needs one cannot wait.
    const mayWait = isBackground && !hasKeys(options)
    if (key === undefined) return mayWait ? this.#startOrAdd(request) : this.#host.start(request)
    // The first request of a key chooses the run's id: whoever starts it, or lets it wait, finds the same run.
    const id = options.runId ?? crypto.randomUUID()
    const { timeoutMs, retentionMs } = this.#parts.runs
    const runId = await this.#line.reserve(LINE, key, id, Date.now() + timeoutMs + retentionMs)
    const known = runId === id ? undefined : await this.get(runId, owner).catch(asUndefined)
    const asked = { ...request, options: { ...options, runId } }
    return known ?? (mayWait ? this.#startOrAdd(asked) : this.#host.start(asked))
  }

  async #startOrAdd(request: StartRequest): Promise<RunRecord> {
    if ((await this.#line.count(LINE)) > 0) return this.#add(request, tooLarge)
    try {
      return await this.#host.start(request)
    } catch (error) {
      if (isTooMany(error)) return this.#add(request, () => error)
      throw error
    }
  }

  get(id: string, viewer: Viewer): Promise<RunRecord> {
    return this.#orQueued(
      id,
      viewer,
      () => this.#host.get(id, viewer),
      async ({ record }) => record,
    )
  }

  follow(id: string, viewer: Viewer, after: number): Promise<Follower> {
    const begin = () => this.#host.follow(id, viewer, after)
    return this.#orQueued(id, viewer, begin, async () => {
      return new QueuedFollower(async signal => {
        await this.#begun(id, viewer, signal)
        return signal.aborted ? NOTHING : begin()
      })
    })
  }

  events(id: string, viewer: Viewer, query: EventQuery): Promise<LogPage> {
    const none: LogPage = { entries: [], ended: false }
    return this.#orQueued(
      id,
      viewer,
      () => this.#host.events(id, viewer, query),
      async () => none,
    )
  }

  wait(id: string, viewer: Viewer, signal: AbortSignal): Promise<RunRecord> {
    const wait = () => this.#host.wait(id, viewer, signal)
    return this.#orQueued(id, viewer, wait, async () => {
      await this.#begun(id, viewer, signal)
      return signal.aborted ? this.get(id, viewer) : wait()
    })
  }

  async list(owner: Viewer, query: RunQuery): Promise<RunPage> {
    const isAsked = query.status === undefined || query.status === 'queued'
    if (query.cursor !== undefined || !isAsked) return this.#host.list(owner, query)
    const queued = await this.#line.list(LINE, owner, query)
    if (query.status === 'queued') return { runs: queued, nextCursor: null }
    // The next page begins after a run that has begun, so there is one on each page.
    const runs = queued.slice(0, query.limit - 1)
    const page = await this.#host.list(owner, { ...query, limit: query.limit - runs.length })
    const isThere = new Set(page.runs.map(({ id }) => id))
    return { ...page, runs: [...runs.filter(({ id }) => !isThere.has(id)), ...page.runs] }
  }

  async find(ref: string): Promise<readonly FoundRun[]> {
    const found = await this.#host.find(ref)
    if (found.length > 0 || !isWholeId(ref)) return found
    const queued = await this.#line.find(LINE, ref)
    return queued === undefined ? [] : [{ ...queued.record, owner: queued.owner }]
  }

  cancel(id: string, viewer: Viewer): Promise<RunRecord> {
    const cancel = () => this.#host.cancel(id, viewer)
    return this.#orQueued(id, viewer, cancel, async queued => {
      for (let tries = 0; tries < CLAIMED_TRIES; tries++) {
        if (await this.#line.take(LINE, id)) {
          await this.#end(queued, { type: 'finish', finishReason: 'cancelled' })
          return this.#host.get(id, viewer)
        }
        if ((await this.#queued(id, viewer)) === undefined) return cancel()
        await later(CLAIMED_MS)
      }
      throw new ServableError('session_busy', 'The run is about to start: try again')
    })
  }

  delete(id: string, viewer: Viewer): Promise<void> {
    return this.#orQueued(
      id,
      viewer,
      () => this.#host.delete(id, viewer),
      () => Promise.reject(stillAtWork()),
    )
  }

  /** Takes out what waits of an owner, or of one of its sessions. Throws `session_busy` where that is not to be cancelled. */
  async forget(owner: string | null, session: OfSession | undefined, cancels: boolean): Promise<boolean> {
    if (!cancels) {
      const page = { kind: session?.kind, name: session?.name, sessionId: session?.id, limit: 1 }
      if ((await this.#line.list(LINE, owner, page)).length > 0) throw stillAtWork()
      return false
    }
    const count = await this.#line.forget(LINE, owner, session)
    if (count > 0) this.#parts.changed?.fire()
    return count > 0
  }

  keep(run: WaitingRun): Promise<void> {
    return this.#host.keep(run)
  }

  record(run: EndedRun): Promise<void> {
    return this.#host.record(run)
  }

  asking(id: string): Promise<Asking | undefined> {
    return this.#host.asking(id)
  }

  answer(
    id: string,
    viewer: Viewer,
    answers: readonly Answer[],
    next: string,
    by?: AnsweredBy,
  ): Promise<AnsweredRun> {
    return this.#host.answer(id, viewer, answers, next, by)
  }

  resume(id: string, viewer: Viewer, request: ResumeRequest): Promise<ResumedRun> {
    return this.#host.resume(id, viewer, request)
  }

  asked(id: string, viewer: Viewer): Promise<Asked> {
    const { keepInput } = this.#parts.runs
    return this.#orQueued(
      id,
      viewer,
      () => this.#host.asked(id, viewer),
      async () => {
        const kept = await this.#line.asked(LINE, id)
        if (kept === undefined) return this.#host.asked(id, viewer)
        const { keepsInput, transport: _, webhook: __, ...asked } = kept
        if (keepsInput || keepInput) return { ...asked, isBackground: true, isKept: true }
        throw inputNotKept()
      },
    )
  }

  feedback(id: string, viewer: Viewer, given?: FeedbackInput): Promise<Feedback | undefined> {
    return this.#host.feedback(id, viewer, given)
  }

  async lookAfter(): Promise<void> {
    await this.#host.lookAfter?.()
    await this.onFree()
  }

  /** A server begins. Gives what ends it: after the last one, what waits is left to others. */
  serve(): () => void {
    this.#servers++
    this.#isClosing = false
    let isOver = false
    return () => {
      if (!isOver) this.#isClosing = --this.#servers === 0
      isOver = true
    }
  }

  /** Starts what waits, as long as there are places. Where requests share memory one search is under way at a time. Never rejects. */
  onFree(): Promise<void> {
    this.#isAskedAgain = true
    if (this.#parts.waitUntil !== undefined) return this.#startAll()
    this.#starting ??= this.#startAll().finally(() => {
      this.#starting = undefined
    })
    return this.#starting
  }

  async #startAll(): Promise<void> {
    try {
      do {
        this.#isAskedAgain = false
        await this.#startSome()
      } while (this.#isAskedAgain)
    } catch (error) {
      logThrown(this.#parts.log, { event: 'queue.failed' }, error)
      // An object's alarm looks again by itself.
      if (this.#parts.waitUntil === undefined) void later(RETRY_MS).then(() => this.onFree())
    }
  }

  async #startSome(): Promise<void> {
    const full: string[] = []
    if ((await this.#line.count(LINE)) === 0) return
    while (full.length < MAX_FULL && !this.#isClosing) {
      const next = await this.#line.claim(LINE, full)
      if (next === undefined) return
      if (!(await this.#hasBegun(next))) full.push(next.queued.client)
    }
  }

  /** Starts a run. False, and it waits still, where there is no place for it. Throws where the state cannot be reached. */
  async #hasBegun({ queued, asked }: Claimed): Promise<boolean> {
    const { record, owner, client } = queued
    const { id } = record
    const { targetOf, production } = this.#parts.runs
    try {
      const target = targetOf?.(asked.target)
      if (target === undefined)
        throw new ServableError('agent_not_found', 'The run cannot start: nobody runs it')
      const { input, options, continues, transport, keepsInput, webhook } = asked
      const request = { target, input, options: { ...options, runId: id }, owner, client, isBackground: true }
      await this.#host.start({ ...request, continues, transport, keepsInput, webhook })
      await this.#done(id)
      return true
    } catch (error) {
      const isFull = isTooMany(error)
      if (isFull || !isServableError(error) || mayPass(error)) {
        await this.#line.release(LINE, id)
        if (isFull) return false
        throw error
      }
      const { code, message } = reportError(error, production, 'internal_error')
      await this.#end(queued, { type: 'error', code, error: message })
      return true
    }
  }

  /** Keeps what became of a run that waited and does not start. */
  async #end({ record, owner, client }: Queued, event: FinishEvent | ErrorEvent): Promise<void> {
    const { id, kind, name, sessionId, userId, transport, createdAt } = record
    const target = { kind, name }
    const at = Date.parse(createdAt)
    await this.#host.record({
      id,
      target,
      options: { sessionId, userId },
      owner,
      client,
      transport,
      at,
      event,
    })
    await this.#done(id)
  }

  async #done(id: string): Promise<void> {
    await this.#line.done(LINE, id)
    this.#parts.changed?.fire()
  }

  /** Lets a run wait. Throws what `why` gives where it cannot. */
  async #add(request: StartRequest, why: () => unknown): Promise<RunRecord> {
    const { target, options, owner, transport, keepsInput, webhook, client = partitionOf(owner) } = request
    const { settings } = this.#parts
    const asked = toAsked({ ...request, client }, false, false)
    // What cannot be kept cannot wait.
    if (asked === undefined || JSON.stringify(asked).length > MAX_LENGTH) throw why()
    const id = options.runId ?? crypto.randomUUID()
    const { record } = newRun({ id, at: Date.now(), instance: '' }, { ...request, target, key: undefined })
    const { kind, name, sessionId } = record
    const priority = priorityIn(settings, { kind, name, owner, sessionId })
    const { input, continues } = asked
    const kept = {
      target: asked.target,
      input,
      options: asked.options,
      continues,
      transport,
      keepsInput,
      webhook,
    }
    const run = { record: { ...record, status: 'queued' as const }, owner, client, priority }
    const added = await this.#line.add(LINE, { ...run, asked: kept }, settings)
    const starting = this.onFree()
    this.#parts.waitUntil?.(starting)
    return added
  }

  /** Resolves once a run waits no more, or the one who waits for it has left. */
  #begun(id: string, viewer: Viewer, signal: AbortSignal): Promise<void> {
    const isQueued = async () => (await this.#queued(id, viewer)) !== undefined
    return begun(isQueued, this.#parts.changed, signal)
  }

  async #queued(id: string, viewer: Viewer): Promise<Queued | undefined> {
    const queued = await this.#line.find(LINE, id)
    return queued?.owner === null || queued?.owner === viewer ? queued : undefined
  }

  /** The work with a run that has begun; of one that waits, the other. */
  async #orQueued<T, U>(
    id: string,
    viewer: Viewer,
    work: () => Promise<T>,
    onQueued: (queued: Queued) => Promise<U>,
  ): Promise<T | U> {
    try {
      return await work()
    } catch (error) {
      asUndefined(error)
    }
    const queued = await this.#queued(id, viewer)
    // It may have begun in between.
    return queued === undefined ? work() : onQueued(queued)
  }
}

/** A run that is not there. Throws any other error. */
function asUndefined(error: unknown): undefined {
  if (!isServableError(error) || error.code !== 'run_not_found') throw error
}

function tooLarge(): ServableError {
  return tooManyRuns('this one is too large to wait')
}

function isTooMany(error: unknown): boolean {
  return isServableError(error) && error.code === 'too_many_runs'
}

/** The priority that the deployment gives a run, as a whole number from 0 to 9. */
function priorityIn({ priorityOf }: QueueSettings, run: QueuedRun): number {
  const priority = Math.round(Number(priorityOf?.(run) ?? 0))
  return Math.min(Math.max(Number.isNaN(priority) ? 0 : priority, 0), MAX_PRIORITY)
}
