/**
 * The run host over a store of this process: for a server, or for a single run.
 *
 * @module
 */

import type { Answer, ErrorEvent, FinishEvent, RunEvent, RunResult } from '../agents/contract.ts'
import { type SessionKey, sessionOf } from '../agents/memory.ts'
import type { TurnEnd } from '../agents/turn.ts'
import { reportError, ServableError } from '../errors.ts'
import { mayPass } from '../state/patient.ts'
import { readLog } from '../state/read-log.ts'
import { sizeOf } from '../state/size.ts'
import type { LocalParts, Retention } from '../state/state.ts'
import type { Reader, Soon, Store, Transaction } from '../state/store.ts'
import { later } from '../wake.ts'
import { admitRun, type KeyUse, reserveKey, useOfKey } from './admission.ts'
import { admitted } from './admit.ts'
import type { Asking } from './asking.ts'
import type { EndedRun } from './ended-run.ts'
import { eventToJson } from './event-json.ts'
import { notStored } from './failures.ts'
import { type Feedback, type FeedbackInput, feedbackIn, putFeedback, stillAtWork } from './feedback.ts'
import type {
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
import { type Asked, askedIn, createJournal, putAsked, withoutParts, workIn, writeAsked } from './journal.ts'
import { KeptWork } from './kept-work.ts'
import { listRuns } from './list.ts'
import { LiveRun } from './live-run.ts'
import { LogFollower } from './log-follower.ts'
import { type EventQuery, type LogPage, readLogPage } from './log-page.ts'
import {
  ended,
  type FoundRun,
  KEYS,
  partitionOf,
  RESULTS,
  RUNNING,
  RUNS,
  type RunRecord,
  type RunSummary,
  type StoredRun,
  toDocument,
} from './record.ts'
import { foldLog, forgetRun, keepMsOf, sealRun, sweep, sweepForAll } from './retention.ts'
import type { Retained } from './retention-of.ts'
import { startRun } from './run.ts'
import { Said } from './run-turn.ts'
import { type CutRun, INTERRUPTED, Takeover } from './takeover.ts'
import type { Target } from './target.ts'
import {
  type AnsweredBy,
  type AnsweredRun,
  answered,
  continuedBy,
  keyRequired,
  openOf,
  putWaiting,
  tooManyWaiting,
  WAITING,
  type Waiting,
  type WaitingRun,
  waitingIn,
} from './waiting.ts'

/** Milliseconds between two sweeps at the least; a sweep happens when a run starts, never by a timer. */
const SWEEP_EVERY_MS = 60_000

/** Runs after which a sweep does not wait for that: so many may be kept past a count. */
const SWEEP_EVERY_RUNS = 100

/** Milliseconds that a sweep may take on a store that is far away. */
const SWEEP_PATIENCE_MS = 30_000

/** What the local host needs. */
export interface LocalHostOptions {
  readonly store: Store
  readonly settings: HostSettings
  readonly retention: Retention
  /** Runs whose time has come are only not found any more: someone else deletes them, and tells of it. */
  readonly leavesExpired?: boolean
  /** Nothing is left of the state when its process dies. */
  readonly isVolatile?: boolean
  /** Keeps the store open while a run is at work. */
  readonly keepOpen?: LocalParts['keepOpen']
  /** Told when a run that this host had at work has ended, with its id. */
  readonly onEnded?: (id: string) => void
}

/** Makes the host. Runs that a dead process left unfinished are failed with `interrupted` at the first call. */
export function createLocalHost(options: LocalHostOptions): RunHost {
  return new LocalHost(options)
}

/** A run that began now, or the one that there was. */
interface BegunRun {
  readonly run: StoredRun
  readonly isNew: boolean
  readonly isJournalled: boolean
}

class LocalHost implements RunHost {
  readonly #store: Store
  readonly #settings: HostSettings
  readonly #retention: Retention
  readonly #leavesExpired: boolean
  readonly #isVolatile: boolean
  readonly #onEnded: LocalHostOptions['onEnded']
  readonly #work: KeptWork<StoredRun, LiveRun>
  readonly #takeover: Takeover
  #sweptAt = 0
  /** Runs since then. */
  #begun = 0
  #lastAt = 0

  constructor(options: LocalHostOptions) {
    const { store, settings, retention, leavesExpired = false, isVolatile = false, onEnded } = options
    this.#isVolatile = isVolatile
    this.#leavesExpired = leavesExpired
    this.#store = store
    this.#settings = settings
    this.#retention = retention
    this.#onEnded = onEnded
    this.#work = new KeptWork<StoredRun, LiveRun>(options, {
      collection: RUNS,
      atWork: RUNNING,
      isAtWork: ({ record }) => record.status === 'running',
      logOf: id => id,
      stop: live => live.stop(),
      leave: live => live.leave(),
      conclude: (tx, id) => {
        const why = this.#takeover.take(tx, id)
        if (why !== undefined) this.#finishUnattended(tx, id, why)
      },
      onConcluded: id => {
        this.#settings.notices?.send()
        const done = this.#goOnOrKeepTurn(id)
        this.#settings.working?.keep(done)
      },
      missing: () => new ServableError('run_not_found', 'There is no such run'),
    })
    this.#takeover = new Takeover(this.#work, settings)
  }

  async start(request: StartRequest): Promise<RunRecord> {
    await this.#work.look()
    await this.#sweep()
    const id = request.options.runId ?? crypto.randomUUID()
    const { admit } = this.#settings
    if (admit === undefined || (await this.#isKnown(id, request)))
      return (await this.#begin(id, request)).run.record
    const { target, options, client = partitionOf(request.owner) } = request
    const { run } = await admitted(
      admit,
      { id, target, options, client },
      () => this.#begin(id, request),
      ({ isNew }) => isNew,
    )
    return run.record
  }

  /** Whether a run of this id or key is there: nobody is asked for it again. */
  #isKnown(id: string, { key }: StartRequest): Soon<boolean> {
    return this.#store.read(tx => {
      const runId = (key && useOfKey(tx, key))?.runId ?? id
      return this.#work.lookUp(tx, runId) !== undefined
    })
  }

  #begin(id: string, request: StartRequest): Promise<BegunRun> {
    // Strictly later than the one before, so that a list goes on where it was while runs come.
    this.#lastAt = Math.max(Date.now(), this.#lastAt + 0.001)
    const at = this.#lastAt
    return this.#work.begin(id, async () => {
      const begun = await this.#store.write(tx => this.#reserve(tx, { id, at }, request))
      if (begun.isNew) this.#launch(begun.run, request, begun.isJournalled)
      return begun
    })
  }

  async get(id: string, viewer: Viewer): Promise<RunRecord> {
    await this.#work.look(id)
    await this.#expire()
    return this.#store.read(tx => {
      return this.#read(tx, this.#work.find(tx, id, viewer))
    })
  }

  async follow(id: string, viewer: Viewer, after: number): Promise<Follower> {
    await this.#work.begun(id)
    await this.#work.look(id)
    const { status } = await this.#store.read(tx => this.#work.find(tx, id, viewer).record)
    // A run that has ended is a log like any other: reading it takes nobody's place.
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
      const gone = new AbortController()
      try {
        const follower = await this.follow(id, viewer, Number.MAX_SAFE_INTEGER)
        const ended = this.#ended(follower, signal, gone.signal)
        await Promise.race([ended, this.#work.get(id)?.tried(gone.signal) ?? ended])
        return await this.get(id, viewer)
      } finally {
        gone.abort()
      }
    })
  }

  /** Resolves once the run has ended, or the one who waits has left. */
  async #ended(follower: Follower, ...signals: readonly AbortSignal[]): Promise<void> {
    const leave = () => follower.leave()
    for (const signal of signals) signal.addEventListener('abort', leave)
    try {
      if (signals.some(({ aborted }) => aborted)) leave()
      await follower.next()
    } finally {
      for (const signal of signals) signal.removeEventListener('abort', leave)
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
    return this.#work.held(id, async () => {
      if (before.status === 'running' || this.#work.get(id) !== undefined) {
        await this.#work.end(id, {
          stop: live => live.cancel(),
          conclude: tx => this.#finishUnattended(tx, id, CANCELLED),
        })
      } else if (before.requests) {
        await this.#store.write(tx => this.#giveUp(tx, id))
        this.#settings.notices?.send()
      }
      const after = await this.get(id, viewer)
      if (after.status === 'cancelled') return after
      throw new ServableError('run_ended', `The run is ${after.status} and can no longer be cancelled`)
    })
  }

  async keep({ id, waiting: asked, owner, client, event }: WaitingRun): Promise<void> {
    await this.#sweep()
    const { approvals, notices, maxWaitingPerOwner = Number.POSITIVE_INFINITY } = this.#settings
    const waiting = { ...asked, client }
    const { target, options } = waiting
    await this.#store.write(tx => {
      const at = tx.now
      const run = newRun(
        { id, at, instance: this.#work.worker.own },
        { target, options, owner, key: undefined },
      )
      if (client !== undefined && tx.count(WAITING, client) >= maxWaitingPerOwner) {
        throw tooManyWaiting(maxWaitingPerOwner)
      }
      tx.put(RUNS, toDocument(run), { thing: id })
      const keepMs = this.#keepMs({ ...target, owner }, true)
      const end = { event, json: eventToJson(event), result: undefined, keepMs, waiting, approvals, notices }
      sealRun(tx, id, end)
    })
    notices?.send()
  }

  async record({ id, at, target, event, result, numbers, ...asked }: EndedRun): Promise<void> {
    const { notices } = this.#settings
    await this.#sweep()
    await this.#store.write(tx => {
      const run = newRun({ id, at, instance: this.#work.worker.own }, { target, key: undefined, ...asked })
      tx.put(RUNS, toDocument(run), { thing: id })
      const keepMs = this.#keepMs({ ...target, owner: asked.owner })
      sealRun(tx, id, { event, json: eventToJson(event), result, keepMs, numbers, notices })
    })
    notices?.send()
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
    by: AnsweredBy = {},
  ): Promise<AnsweredRun> {
    const { approvals } = this.#settings
    if (by.change === undefined) {
      await this.#work.begun(id)
      await this.#work.look(id)
      await this.#expire()
    }
    return this.#store.write(tx => {
      const run = this.#work.find(tx, id, viewer)
      const before = this.#waiting(tx, run, by)
      const after = answered(before, answers, next, by)
      putWaiting(tx, id, by.change?.(after, tx.now) ?? after, { thing: id }, approvals)
      if (openOf(after).length > 0) return { record: this.#read(tx, run) }
      if (after.next === undefined) return { record: this.#rest(tx, run) }
      if (before.next === undefined) this.#settle(tx, continuing(run, after.next))
      const { record } = continuing(run, after.next)
      const { target, input, options, client, usedKey } = after
      // Nobody starts it without the key that it needs.
      if (usedKey && !by.hasKey) return { record }
      const continues = continuedBy(after, id)
      const { webhook } = run
      return { record, next: { id: after.next, target, input, options, client, webhook, continues } }
    })
  }

  async resume(id: string, viewer: Viewer, { next, hasKey }: ResumeRequest): Promise<ResumedRun> {
    await this.#work.begun(id)
    await this.#work.look(id)
    return this.#store.write(tx => {
      const run = this.#work.find(tx, id, viewer)
      const asked = askedIn(tx, id)
      if (run.record.resumable !== true || asked?.resumes !== true) throw notResumable(run.record)
      if (asked.usedKey === true && !hasKey) throw keyRequired()
      const chosen = asked.next ?? next
      const record = { ...run.record, continuedBy: chosen }
      if (asked.next === undefined) {
        writeAsked(tx, id, { ...asked, next: chosen })
        this.#settle(tx, { ...run, record })
      }
      const { target, input, options, client } = asked
      const work = withoutParts(workIn(tx, id, asked))
      // What an agent asked before that run is answered still.
      const answers = asked.continues?.answers ?? []
      const { traceparent } = options
      const continues = { from: id, answers, traceparent, work: { ...work, first: work.first ?? id } }
      return { record, next: { id: chosen, target, input, options, client, webhook: run.webhook, continues } }
    })
  }

  async asked(id: string, viewer: Viewer): Promise<Asked> {
    await this.#work.look(id)
    return this.#store.read(tx => {
      this.#work.find(tx, id, viewer)
      const asked = askedIn(tx, id)
      if (asked?.isKept === true) return asked
      throw inputNotKept()
    })
  }

  /** What a run waits for. Throws `run_ended`, and `approval_expired`. */
  #waiting(tx: Reader, { record }: StoredRun, by: AnsweredBy): Waiting {
    const waiting = record.status === 'cancelled' ? undefined : waitingIn(tx, record.id)
    if (waiting !== undefined && by.change === undefined) this.#settings.approvals?.check(waiting, tx.now)
    if (waiting !== undefined && record.status !== 'failed') return waiting
    throw waitsForNothing(record)
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
      keepMs: what => this.#keepMs(what),
    })
  }

  /** The record with what stands apart from it. */
  #read(tx: Reader, { record }: StoredRun): RunRecord {
    const { id } = record
    const result = tx.get<RunResult>(RESULTS, id)?.value
    const waiting = record.status === 'input_required' ? waitingIn(tx, id) : undefined
    const requests = waiting === undefined ? [] : openOf(waiting)
    return { ...record, ...(result && { result }), ...(requests.length > 0 && { requests }) }
  }

  /** Writes that all is answered, and that the run waits for its owner's key. It is kept as long as before. */
  #rest(tx: Transaction, run: StoredRun): RunRecord {
    const record = { ...run.record, resumable: true } as const
    const { expiresAt } = tx.get(RUNS, record.id) ?? {}
    tx.put(RUNS, toDocument({ ...run, record }, expiresAt), { thing: record.id, leaves: 'last' })
    return record
  }

  /** Ends a run that still waits: nobody answers it. */
  #giveUp(tx: Transaction, id: string): void {
    const run = this.#work.lookUp(tx, id)
    const waiting = waitingIn(tx, id)
    if (!run || !waiting || !this.#read(tx, run).requests) return
    // It stays, so that whoever lists what waits is told.
    putWaiting(tx, id, { ...waiting, hasExpired: true }, { thing: id }, this.#settings.approvals)
    const cancelled = { ...run, record: ended(run.record, CANCELLED) }
    this.#settle(tx, cancelled)
    this.#settings.notices?.note(tx, cancelled, {})
  }

  /** Writes the record of a run that waits no more. It is kept as long as any other from now on. */
  #settle(tx: Transaction, run: StoredRun): void {
    const leaves = run.keyId === null ? 'first' : 'last'
    tx.put(RUNS, toDocument(run, tx.now + this.#keepMs({ ...run.record, owner: run.owner })), {
      thing: run.record.id,
      leaves,
    })
  }

  /** The run of the request's id or key, or a new one. Nothing awaits in here, so one key starts one run. */
  #reserve(
    tx: Transaction,
    { id, at }: Pick<StoredRun, 'at'> & { readonly id: string },
    request: StartRequest,
  ): BegunRun {
    const { key } = request
    const earlier = this.#lookUpOrForget(tx, id) ?? (key && this.#runOfKey(tx, key))
    if (earlier !== undefined) return { run: earlier, isNew: false, isJournalled: false }
    const session = sessionOf(this.#settings.memory, request.target, request.options)
    const run = newRun({ id, at, instance: this.#work.worker.own, session }, request)
    this.#work.recovery.enlist(tx)
    admitRun(tx, { run, client: request.client, inputBytes: sizeOf(request.input) }, this.#settings)
    const isJournalled = putAsked(tx, id, request, {
      resumes: !this.#isVolatile && request.target.servable.resume === true,
      keepsInput: (request.keepsInput || this.#settings.keepInput) === true,
    })
    if (key) reserveKey(tx, key, id)
    // A store that is far away then knows that there is no such log, and the first event asks nothing.
    if (this.#store.isFar) tx.length(id)
    return { run, isNew: true, isJournalled }
  }

  /** A run that is gone takes its key with it, so it is looked up before the key is compared. */
  #runOfKey(tx: Transaction, key: IdempotencyKey): StoredRun | undefined {
    const kept = tx.get<KeyUse>(KEYS, key.id)?.value
    const run = kept && this.#lookUpOrForget(tx, kept.runId)
    return useOfKey(tx, key) && run
  }

  #launch(
    { record: { id }, instance }: Pick<StoredRun, 'record' | 'instance'>,
    request: StartRequest,
    isJournalled: boolean,
    cut?: CutRun,
  ): void {
    const { target, input, owner, isBackground, secrets = [], continues, transport } = request
    const options = { ...request.options, runId: id }
    const keep = async (write: (tx: Transaction) => boolean) => {
      // The servable may be called, and keep something, before there is a live run.
      await undefined
      return live.keep(write)
    }
    const caller = {
      ...{ isStored: true, transport, secrets: () => secrets, ...(continues && { continues }), cut },
      ...(isJournalled && {
        journal: createJournal({ id, instance, options, entries: cut?.entries ?? 0, keep }),
      }),
    }
    const run = startRun(target, input, options, this.#settings, caller)
    if (isJournalled) run.onRetire = async () => this.#retire(id, instance)
    const live = new LiveRun(run, {
      store: this.#store,
      settings: this.#settings,
      ...{ owner, instance, isJournalled, before: cut, keepsJournal: this.#leavesExpired },
      model: target.servable.model,
      keepMs: isWaiting => this.#keepMs({ ...target, owner }, isWaiting),
      isBackground,
      client: request.client,
      leave: tx => this.#takeover.leave(tx, id, instance),
      onStuck: thrown => this.#settings.onFailure?.(notStored(id, target, { options, secrets, thrown })),
    })
    if (cut === undefined) live.watch.recent.begin()
    this.#work.add(id, live, {
      ended: live.ended,
      onEnded: () => {
        live.watch.changed.fire()
        this.#settings.notices?.send()
        if (this.#onEnded === undefined) void this.#settings.onFree?.()
        else this.#onEnded(id)
      },
    })
  }

  #keepMs({ kind, name, owner }: Retained, isWaiting = false): number {
    const what = { kind, name, owner }
    const keepMs = keepMsOf(what, this.#settings, this.#retention)
    if (!isWaiting) return keepMs
    const { waitingMs = 0, approvals } = this.#settings
    // One that expires says so for as long as any other that has ended.
    const expiringMs = approvals === undefined ? 0 : approvals.expiresMs + keepMs
    return keepMsOf(what, this.#settings, this.#retention, Math.max(waitingMs, expiringMs))
  }

  /** A run as it is by now; one that is gone makes room for another one of its id. */
  #lookUpOrForget(tx: Transaction, id: string): StoredRun | undefined {
    const run = this.#work.lookUp(tx, id)
    const gone = run === undefined && !this.#leavesExpired ? tx.get<StoredRun>(RUNS, id) : undefined
    if (gone !== undefined) forgetRun(tx, gone.value, this.#settings.files)
    return run
  }

  /** Leaves a run to other processes: false where it cannot go on there. */
  #retire(id: string, instance: string): Soon<boolean> {
    this.#work.worker.retire()
    return this.#store.write(tx => this.#takeover.leave(tx, id, instance))
  }

  /** Goes on with a run that was taken over; of one that has ended, the turn is kept. */
  async #goOnOrKeepTurn(id: string): Promise<void> {
    try {
      const isBegun = await this.#work.begin(id, async () => {
        const taken = await this.#store.read(tx => this.#takeover.taken(tx, id))
        if (taken !== undefined && this.#work.get(id) === undefined)
          this.#launch(taken.run, taken.request, true, taken.cut)
        return taken !== undefined
      })
      if (!isBegun) await this.#keepTurn(id)
    } catch (error) {
      // Nobody else finds it while this host is there.
      this.#settings.memory?.sessions?.failed(error)
      if (!mayPass(error) && (await this.#hasFailed(id, error))) return this.#keepTurn(id)
      await later(GO_ON_RETRY_MS)
      return this.#goOnOrKeepTurn(id)
    }
  }

  /** Fails a run that can never go on. False where that cannot be written now. */
  async #hasFailed(id: string, error: unknown): Promise<boolean> {
    const { code, message } = reportError(error, this.#settings.production, 'internal_error')
    try {
      await this.#store.write(tx => this.#finishUnattended(tx, id, { type: 'error', code, error: message }))
      return true
    } catch {
      return false
    }
  }

  /** Ends a run that nobody here is working on. */
  #finishUnattended(tx: Transaction, id: string, event: FinishEvent | ErrorEvent): void {
    const result = event.type === 'finish' ? foldLog(tx, id) : undefined
    const resumable = event === INTERRUPTED && askedIn(tx, id)?.resumes === true
    const json = eventToJson(event)
    const run = tx.get<StoredRun>(RUNS, id)?.value
    const keepMs = run === undefined ? 0 : this.#keepMs({ ...run.record, owner: run.owner })
    const { notices } = this.#settings
    sealRun(tx, id, { event, json, result, keepMs, notices, resumable, keepsJournal: this.#leavesExpired })
  }

  /** The turn of a run that nobody here worked on is made from its log. */
  async #keepTurn(id: string): Promise<void> {
    const sessions = this.#settings.memory?.sessions
    try {
      const kept = await this.#store.read(tx => turnOf(tx, id))
      if (kept !== undefined) await sessions?.leave(kept.session, { runId: id, ...kept.end })
    } catch (error) {
      sessions?.failed(error)
    }
  }

  #sweep(): Soon<void> {
    const now = Date.now()
    // The clock may have been set back since.
    if (Math.abs(now - this.#sweptAt) < SWEEP_EVERY_MS && ++this.#begun < SWEEP_EVERY_RUNS) return
    this.#sweptAt = now
    this.#begun = 0
    const { files } = this.#settings
    if (!this.#store.isFar) return this.#store.write(tx => sweep(tx, this.#retention, tx.now, files))
    const swept = this.#store.write(tx => sweepForAll(tx, this.#retention, files), SWEEP_PATIENCE_MS)
    // Nobody waits for it. What is left is swept the next time.
    void Promise.resolve(swept).catch(() => {})
  }

  async delete(id: string, viewer: Viewer): Promise<void> {
    await this.#work.begun(id)
    await this.#work.look(id)
    await this.#store.write(tx => forgetRun(tx, this.#findEnded(tx, id, viewer), this.#settings.files))
  }

  async feedback(id: string, viewer: Viewer, given?: FeedbackInput): Promise<Feedback | undefined> {
    await this.#work.look(id)
    if (given !== undefined) {
      return this.#store.write(tx => {
        this.#findEnded(tx, id, viewer)
        return putFeedback(tx, { id, partition: '' }, given, { thing: id })
      })
    }
    return this.#store.read(tx => {
      this.#work.find(tx, id, viewer)
      return feedbackIn(tx, id)
    })
  }

  #findEnded(tx: Reader, id: string, viewer: Viewer): StoredRun {
    const run = this.#work.find(tx, id, viewer)
    if (run.record.status === 'running') throw stillAtWork()
    return run
  }
}

/** Milliseconds until a run that could not go on, since the store could not be read, is looked at again. */
const GO_ON_RETRY_MS = 1000

/** What is said of a run whose input is asked for, and not kept. */
export function inputNotKept(): ServableError {
  const text = 'The input of the run is not kept: with `runs.keepInput` those of stored runs are'
  return new ServableError('input_not_kept', text)
}

const CANCELLED: FinishEvent = { type: 'finish', finishReason: 'cancelled' }

function notResumable({ status }: RunSummary): ServableError {
  const text = `The run is ${status} and cannot go on: \`POST /runs/:id/retry\` runs its input again`
  return new ServableError('not_resumable', text)
}

function continuing(run: StoredRun, continuedBy: string): StoredRun {
  const { resumable: _, ...record } = run.record
  return { ...run, record: { ...record, continuedBy } }
}

function waitsForNothing({ status }: RunSummary): ServableError {
  return new ServableError('run_ended', `The run is ${status} and waits for no answer`)
}

/** The turn of a run that has ended, as its log tells it; undefined for one without a session. */
function turnOf(tx: Reader, id: string): { readonly session: SessionKey; readonly end: TurnEnd } | undefined {
  const session = tx.get<StoredRun>(RUNS, id)?.value.session
  if (session === undefined) return undefined
  const said = new Said()
  let end: TurnEnd | undefined
  for (const { data } of readLog(tx, id)) {
    const event = JSON.parse(data) as RunEvent
    if (event.type === 'finish' || event.type === 'error') end = said.end(event)
    else said.add(event)
  }
  return end && { session, end }
}

/** The record of a run that starts now. */
export function newRun(
  { id, at, instance, session }: Pick<StoredRun, 'at' | 'instance' | 'session'> & { readonly id: string },
  {
    target,
    options,
    owner,
    key,
    continues,
    transport,
    taskId,
    webhook,
  }: Pick<StartRequest, 'options' | 'owner' | 'key' | 'continues' | 'transport' | 'webhook'> & {
    readonly target: Pick<Target, 'kind' | 'name'>
    readonly taskId?: string | undefined
  },
): StoredRun {
  const createdAt = new Date(at).toISOString()
  const { kind, name } = target
  const { sessionId, userId } = options
  return {
    record: {
      id,
      kind,
      name,
      status: 'running',
      createdAt,
      updatedAt: createdAt,
      ...(sessionId !== undefined && { sessionId }),
      ...(userId !== undefined && { userId }),
      ...(continues && { continuedFrom: continues.from }),
      ...(transport !== undefined && { transport }),
      ...(taskId !== undefined && { taskId }),
    },
    owner,
    at,
    instance,
    keyId: key?.id ?? null,
    ...(session && { session }),
    ...(webhook && { webhook }),
  }
}
