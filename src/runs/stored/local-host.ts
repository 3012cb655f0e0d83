/**
 * The run host over a store of this process: for a server, or for the object of a single run.
 *
 * @module
 */

import type { Answer, FinishEvent } from '../../agents/contract.ts'
import { sessionOf } from '../../agents/memory.ts'
import { ServableError } from '../../base/errors.ts'
import { sizeOf } from '../../stores/size.ts'
import type { Reader, Soon, Store, Transaction } from '../../stores/store.ts'
import { admitRun, type KeyUse, reserveKey, useOfKey } from '../admission.ts'
import { admitted } from '../admit.ts'
import { eventToJson } from '../event-json.ts'
import { type Feedback, type FeedbackInput, feedbackIn, type Rating, stillAtWork } from '../feedback.ts'
import type { Asking } from '../waiting/asking.ts'
import { answerRun, giveUpRun, resumeRun } from '../waiting/continuing.ts'
import { checkEdits } from '../waiting/edits.ts'
import {
  type AnsweredRun,
  type Answering,
  recordIn,
  storedRequestOf,
  tooManyWaiting,
  WAITING,
  type WaitingRun,
  waitingIn,
} from '../waiting/waiting.ts'
import { createFolder } from './folding.ts'
import type {
  EndedRun,
  Follower,
  HostSettings,
  IdempotencyKey,
  ResumedRun,
  ResumeRequest,
  RunHost,
  RunPage,
  RunQuery,
  StartRequest,
  Viewer,
} from './host.ts'
import { inputNotKept, putRequest, requestIn, type StoredRequest, takingOver } from './journal.ts'
import { listRuns } from './list.ts'
import { finishUnattended, LocalWork, type LocalWorkOptions } from './local-work.ts'
import { LogFollower } from './log-follower.ts'
import { type EventQuery, type LogPage, readLogPage } from './log-page.ts'
import { newRun } from './new-run.ts'
import {
  type FoundRun,
  isTurn,
  KEYS,
  partitionOf,
  RUNS,
  type RunRecord,
  type StoredRun,
  toDocument,
} from './record.ts'
import { createSweeper, forgetRun, rateRun, runKeepMsOf, sayOfRun, sealRun } from './retention.ts'
import { keepsInput, titleFor } from './title.ts'

/** The options of the local host. */
export interface LocalHostOptions extends LocalWorkOptions {
  /** Whether the state is lost with its process. */
  readonly isVolatile?: boolean
}

/** Makes the host. At the first call, runs that a dead process left go on where they can, and else fail with `interrupted`. */
export function createLocalHost(options: LocalHostOptions): RunHost {
  return new LocalHost(options)
}

/** A run that began now, or an existing one. */
interface ReservedRun {
  readonly run: StoredRun
  readonly isNew: boolean
  readonly isJournalled: boolean
}

class LocalHost implements RunHost {
  readonly #store: Store
  readonly #settings: HostSettings
  readonly #options: LocalHostOptions
  readonly #here: LocalWork
  readonly #work: LocalWork['kept']
  readonly #sweep: () => Soon<void>
  readonly #foldDue: () => void
  #lastAt = 0

  constructor(options: LocalHostOptions) {
    const { store, settings, retention } = options
    this.#options = options
    this.#store = store
    this.#settings = settings
    this.#here = new LocalWork(options)
    this.#work = this.#here.kept
    this.#sweep = createSweeper(store, retention, settings)
    this.#foldDue = createFolder(options)
  }

  async start(request: StartRequest): Promise<RunRecord> {
    await this.#work.look()
    await this.#sweep()
    this.#foldDue()
    const id = request.options.runId ?? crypto.randomUUID()
    const { admit } = this.#settings
    if (admit === undefined || (await this.#isKnown(id, request)))
      return (await this.#begin(id, request)).run.record
    const { target, input, options, client = partitionOf(request.owner) } = request
    const { run } = await admitted(
      admit,
      { id, target, input, options, client, continues: request.continues?.from !== undefined },
      () => this.#begin(id, request),
      ({ isNew }) => isNew,
    )
    return run.record
  }

  /** Whether there is a run of this id or key, which needs no admission. */
  #isKnown(id: string, { key }: StartRequest): Soon<boolean> {
    return this.#store.read(tx => {
      const runId = (key && useOfKey(tx, key))?.runId ?? id
      return this.#work.lookUp(tx, runId) !== undefined
    })
  }

  #begin(id: string, request: StartRequest): Promise<ReservedRun> {
    // Strictly later than the one before, so that paging through a list works while runs come.
    this.#lastAt = Math.max(request.at ?? Date.now(), this.#lastAt + 0.001)
    const at = this.#lastAt
    return this.#work.begin(id, async () => {
      const begun = await this.#store.write(tx => this.#reserve(tx, { id, at }, request))
      if (begun.isNew) this.#here.launch(begun.run, request, begun.isJournalled)
      return begun
    })
  }

  async get(id: string, viewer: Viewer): Promise<RunRecord> {
    await this.#work.look(id)
    await this.#expire()
    return this.#store.read(tx => recordIn(tx, this.#work.find(tx, id, viewer)))
  }

  async follow(id: string, viewer: Viewer, after: number): Promise<Follower> {
    await this.#work.begun(id)
    await this.#work.look(id)
    const { status } = await this.#store.read(tx => this.#work.find(tx, id, viewer).record)
    // An ended run is a log without a watch: reading it does not count as a follower.
    const watch = status === 'running' ? this.#work.get(id)?.watch : undefined
    return new LogFollower({
      store: this.#store,
      log: id,
      after,
      watch,
      isKept: tx => tx.get(RUNS, id) !== undefined,
      look: () => this.#work.look(),
    })
  }

  async events(id: string, viewer: Viewer, query: EventQuery): Promise<LogPage> {
    await this.#work.begun(id)
    await this.#work.look(id)
    return this.#store.read(tx => {
      this.#work.find(tx, id, viewer)
      return readLogPage(tx, id, query)
    })
  }

  wait(id: string, viewer: Viewer, signal: AbortSignal): Promise<RunRecord> {
    return this.#work.held(id, async () => {
      await this.#work.begun(id)
      const live = this.#work.get(id)
      const record = live?.isFor(viewer)
        ? await live.waited(signal)
        : await this.#endedElsewhere(id, viewer, signal)
      return record ?? (await this.get(id, viewer))
    })
  }

  /** Resolves once a run that is not at work here has ended, or the waiting caller has left. */
  async #endedElsewhere(id: string, viewer: Viewer, signal: AbortSignal): Promise<undefined> {
    const follower = await this.follow(id, viewer, Number.MAX_SAFE_INTEGER)
    const leave = () => follower.leave()
    signal.addEventListener('abort', leave)
    try {
      if (!signal.aborted) await follower.next()
    } finally {
      signal.removeEventListener('abort', leave)
      leave()
    }
  }

  async list(owner: Viewer, query: RunQuery): Promise<RunPage> {
    await this.#work.look()
    await this.#expire()
    return this.#store.read(tx => listRuns(tx, owner, query))
  }

  async find(ref: string): Promise<readonly FoundRun[]> {
    const runs = await this.#work.findAll(ref)
    return runs.map(({ record, owner }) => ({ ...record, owner }))
  }

  async cancel(id: string, viewer: Viewer): Promise<RunRecord> {
    await this.#work.begun(id)
    const before = await this.get(id, viewer)
    if (before.status === 'cancelled') return before
    if (isTurn(before)) {
      await this.#settings.turns?.cancel?.(before.taskId ?? '', viewer)
      return this.get(id, viewer)
    }
    return this.#work.held(id, async () => {
      if (before.status === 'running' || this.#work.get(id) !== undefined) {
        await this.#work.end(id, {
          stop: live => live.cancel(),
          conclude: tx => finishUnattended(tx, id, CANCELLED, this.#options),
        })
      } else if (before.requests) {
        await this.#store.write(tx => giveUpRun(tx, this.#work.lookUp(tx, id), CANCELLED, this.#options))
        this.#settings.notices?.send()
      }
      const after = await this.get(id, viewer)
      if (after.status === 'cancelled') return after
      throw new ServableError('run_ended', `The run is ${after.status} and can no longer be cancelled`)
    })
  }

  async keep({ id, waiting: asked, owner, client, event }: WaitingRun): Promise<void> {
    await this.#sweep()
    const { notices, maxWaitingPerOwner = Number.POSITIVE_INFINITY } = this.#settings
    const { target, input, options } = asked
    await this.#store.write(tx => {
      if (client !== undefined && tx.count(WAITING, client) >= maxWaitingPerOwner) {
        throw tooManyWaiting(maxWaitingPerOwner)
      }
      this.#put(tx, { id, at: tx.now, target, input, options, owner, event }, { ...asked, client })
    })
    notices?.send()
  }

  async record(run: EndedRun): Promise<void> {
    await this.#sweep()
    await this.#store.write(tx => this.#put(tx, run))
    this.#settings.notices?.send()
  }

  /** Writes a run that has ended, or waits, and was not stored before. */
  #put(
    tx: Transaction,
    { id, at, event, result, numbers, ...asked }: EndedRun,
    waiting?: WaitingRun['waiting'],
  ): void {
    const { target, owner } = asked
    const { alarm, approvals, notices } = this.#settings
    const title = titleFor(asked, this.#settings)
    const run = newRun({ id, at, instance: this.#work.worker.own }, { key: undefined, ...asked, title })
    tx.put(RUNS, toDocument(run), { thing: id })
    const keepMs = runKeepMsOf({ ...target, owner }, this.#options, waiting !== undefined)
    const { hasTexts } = this.#settings
    const searched = { hasTexts, input: asked.input }
    const end = { event, json: eventToJson(event), result, keepMs, numbers, waiting, approvals, notices }
    sealRun(tx, id, { ...end, searched })
    alarm?.wake()
  }

  async asking(id: string): Promise<Asking | undefined> {
    await this.#work.begun(id)
    await this.#expire()
    return this.#store.read(tx => this.#work.lookUp(tx, id) && this.#settings.approvals?.asking(tx, id))
  }

  async answer(
    id: string,
    viewer: Viewer,
    answers: readonly Answer[],
    next: string,
    by: Answering = {},
  ): Promise<AnsweredRun> {
    if (by.change === undefined) {
      await this.#work.begun(id)
      await this.#work.look(id)
      await this.#expire()
    }
    await checkEdits(answers, this.#settings.targetOf, () =>
      this.#store.read(tx => this.#work.find(tx, id, viewer) && waitingIn(tx, id)),
    )
    return this.#store.write(tx => {
      return answerRun(tx, this.#work.find(tx, id, viewer), { answers, next, by }, this.#options)
    })
  }

  async resume(id: string, viewer: Viewer, request: ResumeRequest): Promise<ResumedRun> {
    await this.#work.begun(id)
    await this.#work.look(id)
    return this.#store.write(tx => {
      return resumeRun(tx, this.#work.find(tx, id, viewer), request, this.#options)
    })
  }

  async asked(id: string, viewer: Viewer, from?: string): Promise<StoredRequest> {
    await this.#work.look(id)
    return this.#store.read(tx => {
      this.#work.find(tx, id, viewer)
      const asked = requestIn(tx, id)
      if (asked?.isKept === true && from !== undefined) return takingOver(tx, id, asked, from)
      if (asked?.isKept === true) return asked
      // The request is stored as long as the run waits, and then until the run is deleted.
      const waiting = waitingIn(tx, id)
      if (waiting && !waiting.hasExpired && from === undefined) return storedRequestOf(waiting)
      throw inputNotKept()
    })
  }

  async lookAfter(): Promise<void> {
    await this.#work.lookAfter()
    await this.#expire()
  }

  #expire(): Soon<void> {
    const { approvals, notices } = this.#settings
    return approvals?.expireRuns(this, {
      store: this.#store,
      notices,
      keepMs: what => runKeepMsOf(what, this.#options),
    })
  }

  /** Returns the run of the request's id or key, or a new one. It is synchronous, so one key starts one run. */
  #reserve(
    tx: Transaction,
    { id, at }: Pick<StoredRun, 'at'> & { readonly id: string },
    request: StartRequest,
  ): ReservedRun {
    const { key } = request
    tx.assumeNew?.(id)
    const earlier = this.#lookUpOrForget(tx, id) ?? (key && this.#runOfKey(tx, key))
    if (earlier !== undefined) return { run: earlier, isNew: false, isJournalled: false }
    const session = sessionOf(this.#settings.memory, request.target, request.options)
    const title = titleFor(request, this.#settings)
    const run = newRun({ id, at, instance: this.#work.worker.own, session }, { ...request, title })
    this.#work.recovery.enlist(tx)
    admitRun(tx, { run, client: request.client, inputBytes: sizeOf(request.input) }, this.#settings)
    const isJournalled = putRequest(tx, id, request, {
      resumes: !this.#options.isVolatile && request.target.servable.resume === true,
      keepsInput: keepsInput(request, this.#settings),
    })
    if (key) reserveKey(tx, key, id)
    return { run, isNew: true, isJournalled }
  }

  /** The key of an expired run is deleted with it, so the run is looked up before the key is compared. */
  #runOfKey(tx: Transaction, key: IdempotencyKey): StoredRun | undefined {
    const kept = tx.get<KeyUse>(KEYS, key.id)?.value
    const run = kept && this.#lookUpOrForget(tx, kept.runId)
    return useOfKey(tx, key) && run
  }

  /** Reads a run. An expired one is deleted, so that its id is free. */
  #lookUpOrForget(tx: Transaction, id: string): StoredRun | undefined {
    const run = this.#work.lookUp(tx, id)
    const gone = run === undefined && !this.#options.leavesExpired ? tx.get<StoredRun>(RUNS, id) : undefined
    if (gone !== undefined) forgetRun(tx, gone.value, this.#settings.files)
    return run
  }

  async delete(id: string, viewer: Viewer): Promise<void> {
    await this.#work.begun(id)
    await this.#work.look(id)
    const { files, notices } = this.#settings
    await this.#store.write(tx => {
      forgetRun(tx, this.#findEnded(tx, id, viewer), files)
      notices?.forgetIn(tx, id)
    })
  }

  async feedback(id: string, viewer: Viewer, given?: FeedbackInput): Promise<Feedback | undefined> {
    await this.#work.look(id)
    return given === undefined
      ? this.#store.read(tx => this.#work.find(tx, id, viewer) && feedbackIn(tx, id))
      : this.#store.write(tx => sayOfRun(tx, this.#findEnded(tx, id, viewer), given, this.#settings))
  }

  async rate(id: string, viewer: Viewer, rating: Rating): Promise<void> {
    await this.#work.look(id)
    await this.#store.write(tx => rateRun(tx, this.#findEnded(tx, id, viewer), rating, this.#settings))
  }

  #findEnded(tx: Reader, id: string, viewer: Viewer): StoredRun {
    const run = this.#work.find(tx, id, viewer)
    if (run.record.status === 'running') throw stillAtWork()
    return run
  }
}

const CANCELLED: FinishEvent = { type: 'finish', finishReason: 'cancelled' }
