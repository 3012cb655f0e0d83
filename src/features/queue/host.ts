/**
 * Wraps the host of stored runs: background runs above the limits wait in a queue. `starter.ts` starts them.
 *
 * @module
 */

import { hasKeys } from '../../agents/redacted.ts'
import { isServableError, ServableError } from '../../base/errors.ts'
import { later } from '../../base/wake.ts'
import type { Calls, CallTransactions } from '../../core/transaction-calls.ts'
import { isTooMany, tooManyRuns } from '../../runs/admission.ts'
import { checkBrake } from '../../runs/brake.ts'
import { stillAtWork } from '../../runs/feedback.ts'
import type {
  Follower,
  QueuedTask,
  RunHost,
  RunPage,
  RunQuery,
  StartRequest,
  TaskLine,
  Viewer,
} from '../../runs/stored/host.ts'
import { inputNotKept, type StoredRequest, toStoredRequest } from '../../runs/stored/journal.ts'
import type { EventQuery, LogPage } from '../../runs/stored/log-page.ts'
import { newRun } from '../../runs/stored/new-run.ts'
import { type FoundRun, isWholeId, partitionOf, type RunRecord } from '../../runs/stored/record.ts'
import { keepsInput, titleFor } from '../../runs/stored/title.ts'
import type { Target } from '../../runs/target.ts'
import { mayPass } from '../../stores/remote/retrying.ts'
import { begun, NOTHING, QueuedFollower } from './follower.ts'
import {
  LINE,
  LINE_TRANSACTIONS,
  type LineTransactions,
  MAX_PRIORITY,
  NAME,
  type OfSession,
  type QueueBounds,
  type QueuedRecord,
} from './line.ts'
import { createStarter, type Starter, type StarterParts } from './starter.ts'

/** The data by which `priorityOf` chooses. */
export interface QueuedRun extends Pick<Target, 'kind' | 'name'> {
  /** The identity that owns it. Null without one. */
  readonly owner: string | null
  readonly sessionId?: string | undefined
}

/** Settings of the queue. */
export interface QueueSettings extends QueueBounds {
  readonly priorityOf: ((run: QueuedRun) => number) | undefined
}

/** The parts of the handler that the host uses. */
export interface QueueParts extends StarterParts {
  readonly callTransactions: CallTransactions
  readonly settings: QueueSettings
}

/** Most characters of a queued run's request, as JSON. A larger one is refused instead of queued. */
const MAX_LENGTH = 1_048_576

/** Milliseconds between checks of a run that another process starts or cancels, and the most checks. */
const CLAIMED_MS = 50
const CLAIMED_TRIES = 100

/** The host of stored runs with a queue. */
export class QueueHost implements RunHost {
  readonly #host: RunHost
  readonly #parts: QueueParts
  readonly #line: Calls<LineTransactions>
  /** Starts queued runs. */
  readonly starter: Starter
  readonly onFree: Starter['onFree']
  // A queued run has neither ended nor asked anything, so these need no queue.
  readonly keep: RunHost['keep']
  readonly record: RunHost['record']
  readonly asking: RunHost['asking']
  readonly answer: RunHost['answer']
  readonly resume: RunHost['resume']
  readonly feedback: RunHost['feedback']
  readonly rate: RunHost['rate']
  readonly line: TaskLine

  constructor(host: RunHost, parts: QueueParts) {
    this.#host = host
    this.#parts = parts
    this.#line = parts.callTransactions(NAME, LINE_TRANSACTIONS)
    const tasks = () => {
      if (this.line.tasks !== undefined) return this.line.tasks
      throw new ServableError('agent_not_found', 'The task cannot start: nobody serves tasks')
    }
    this.starter = createStarter(host, this.#line, { ...parts, tasks })
    this.onFree = this.starter.onFree
    const ended = () => parts.changed?.fire()
    this.line = {
      isBusy: async () => (await this.#line.count(LINE)) > 0,
      add: task => this.#addTask(task),
      release: async runId => {
        await this.#line.release(LINE, runId)
        this.#startSoon()
      },
      remove: runId => this.#line.done(LINE, runId).then(ended),
    }
    this.keep = host.keep.bind(host)
    this.record = host.record.bind(host)
    this.asking = host.asking.bind(host)
    this.answer = host.answer.bind(host)
    this.resume = host.resume.bind(host)
    this.feedback = host.feedback.bind(host)
    this.rate = host.rate.bind(host)
  }

  async start(request: StartRequest): Promise<RunRecord> {
    const { key, options, owner, isBackground } = request
    // Provider keys are never stored, so a run that needs one cannot wait.
    const mayWait = isBackground && !hasKeys(options)
    if (key === undefined) return mayWait ? this.#startOrAdd(request) : this.#host.start(request)
    // The first request of a key chooses the run's id, so that every request with the key finds the same run.
    const id = options.runId ?? crypto.randomUUID()
    const { timeoutMs, retentionMs } = this.#parts.runs
    const runId = await this.#line.reserve(LINE, key, id, Date.now() + timeoutMs + retentionMs)
    const isNew = runId === id
    const known = !isNew && (await this.get(runId, owner).catch(asUndefined))
    if (known) return known
    const asked = { ...request, options: { ...options, runId } }
    try {
      return await (mayWait ? this.#startOrAdd(asked) : this.#host.start(asked))
    } catch (error) {
      // A refused run leaves no data. If the state cannot be reached, the run may have begun.
      if (isNew && !mayPass(error)) await this.#line.free(LINE, key)
      throw error
    }
  }

  async #startOrAdd(request: StartRequest): Promise<RunRecord> {
    if ((await this.#line.count(LINE)) > 0) {
      // What waits is admitted when it starts, which may be long after a pause.
      if (request.continues?.from === undefined) await checkBrake(this.#parts.runs.brake, request.target)
      return this.#add(request)
    }
    return this.#host.start(request).catch(error => {
      if (isTooMany(error)) return this.#add(request, error)
      throw error
    })
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
    const isAsked = !query.waiting && (query.status === undefined || query.status === 'queued')
    if (!isAsked) return this.#host.list(owner, query)
    const page = await this.#listAsked(owner, query)
    if (query.count !== true) return page
    const count = await this.#line.countMatching(LINE, owner, { ...query, hasTasks: this.#listsTasks })
    return { ...page, count: (page.count ?? 0) + count }
  }

  async #listAsked(owner: Viewer, query: RunQuery): Promise<RunPage> {
    if (query.cursor !== undefined) return this.#host.list(owner, query)
    const queued = await this.#line.list(LINE, owner, { ...query, hasTasks: this.#listsTasks })
    if (query.status === 'queued') return { runs: queued, nextCursor: null }
    // The next page begins after a run that has begun, so each page needs one.
    const runs = queued.slice(0, query.limit - 1)
    const page = await this.#host.list(owner, { ...query, limit: query.limit - runs.length })
    const isThere = new Set(page.runs.map(({ id }) => id))
    return { ...page, runs: [...runs.filter(({ id }) => !isThere.has(id)), ...page.runs] }
  }

  /** Whether queued runs of tasks are listed: where all runs are. */
  get #listsTasks(): boolean {
    return this.#parts.runs.store === 'all'
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
          await this.starter.end(queued, { type: 'finish', finishReason: 'cancelled' })
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
      async () => {
        const { status } = await this.#host.get(id, viewer)
        // Its key is freed first. After a crash between the two, the run is still found.
        if (status !== 'running') await this.#line.freeOf(LINE, id)
        await this.#host.delete(id, viewer)
      },
      () => Promise.reject(stillAtWork()),
    )
  }

  /** Removes the queued runs of an owner, or of one of its sessions. Throws `session_busy` unless `cancels`. */
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

  asked(id: string, viewer: Viewer, from?: string): Promise<StoredRequest> {
    const { keepInput } = this.#parts.runs
    return this.#orQueued(
      id,
      viewer,
      () => this.#host.asked(id, viewer, from),
      async () => {
        const kept = await this.#line.asked(LINE, id)
        if (kept === undefined) return this.#host.asked(id, viewer, from)
        if (from !== undefined)
          throw new ServableError('not_resumable', 'The run has not begun: no work of it is done')
        const { keepsInput, transport: _, webhook: __, retryOf: ___, ...asked } = kept
        if (keepsInput || keepInput === true) return { ...asked, isBackground: true, isKept: true }
        throw inputNotKept()
      },
    )
  }

  async lookAfter(): Promise<void> {
    await this.#host.lookAfter?.()
    await this.onFree()
  }

  /** Queues a run. Throws `why` if it cannot be queued. */
  async #add(
    request: StartRequest,
    why: unknown = tooManyRuns('this one is too large to wait'),
  ): Promise<RunRecord> {
    const { target, options, owner, transport, webhook, retryOf, client = partitionOf(owner) } = request
    const { settings, runs } = this.#parts
    const asked = toStoredRequest({ ...request, client }, false, false)
    // A run that cannot be stored cannot be queued.
    if (asked === undefined || JSON.stringify(asked).length > MAX_LENGTH) throw why
    const id = options.runId ?? crypto.randomUUID()
    const titled = { ...request, target, key: undefined, title: titleFor(request, runs) }
    const { record } = newRun({ id, at: Date.now(), instance: '' }, titled)
    const { kind, name, sessionId } = record
    const priority = priorityIn(settings, { kind, name, owner, sessionId })
    const { target: of, input, options: kept, continues } = asked
    const run = {
      record: { ...record, status: 'queued' as const },
      asked: {
        target: of,
        input,
        options: kept,
        continues,
        transport,
        keepsInput: keepsInput(request, runs),
        webhook,
        retryOf,
      },
      ...{ owner, client, priority },
    }
    const added = await this.#line.add(LINE, run, settings)
    this.#startSoon()
    return added
  }

  /** Queues a task. The line has no part of its message but the title. */
  async #addTask({ target, input, owner, client = partitionOf(owner), ...task }: QueuedTask): Promise<void> {
    const { settings, runs } = this.#parts
    const { taskId, runId, sessionId } = task
    const options = { sessionId }
    const title = titleFor({ input, owner }, runs)
    const about = { target, options, owner, key: undefined, taskId, title }
    const { record } = newRun({ id: runId, at: Date.now(), instance: '' }, about)
    const { kind, name } = target
    const priority = priorityIn(settings, { kind, name, owner, sessionId })
    const asked = { target: { kind, name }, input: '', options: {} }
    const queued = { record: { ...record, status: 'queued' as const }, asked, owner, client, priority }
    await this.#line.add(LINE, { ...queued, isHeld: true }, settings)
  }

  #startSoon(): void {
    const starting = this.onFree()
    this.#parts.waitUntil?.(starting)
  }

  /** Resolves when a run has left the queue, or its follower has left. */
  #begun(id: string, viewer: Viewer, signal: AbortSignal): Promise<void> {
    const isQueued = async () => (await this.#queued(id, viewer)) !== undefined
    return begun(isQueued, this.#parts.changed, signal)
  }

  async #queued(id: string, viewer: Viewer): Promise<QueuedRecord | undefined> {
    const queued = await this.#line.find(LINE, id)
    if (queued?.record.taskId !== undefined && !this.#listsTasks) return undefined
    return queued?.owner === null || queued?.owner === viewer ? queued : undefined
  }

  /** Runs `onQueued` for a queued run, and `work` for any other. */
  async #orQueued<T, U>(
    id: string,
    viewer: Viewer,
    work: () => Promise<T>,
    onQueued: (queued: QueuedRecord) => Promise<U>,
  ): Promise<T | U> {
    try {
      return await work()
    } catch (error) {
      asUndefined(error)
    }
    const queued = await this.#queued(id, viewer)
    // The run may have begun meanwhile.
    return queued === undefined ? work() : onQueued(queued)
  }
}

/** Undefined for a run that does not exist. Throws any other error. */
function asUndefined(error: unknown): undefined {
  if (!isServableError(error) || error.code !== 'run_not_found') throw error
}

/** The priority that the deployment gives a run, as a whole number from 0 to 9. */
function priorityIn({ priorityOf }: QueueSettings, run: QueuedRun): number {
  const priority = Math.round(Number(priorityOf?.(run) ?? 0))
  return Math.min(Math.max(Number.isNaN(priority) ? 0 : priority, 0), MAX_PRIORITY)
}
