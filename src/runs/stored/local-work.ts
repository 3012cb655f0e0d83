/**
 * The runs that this process has at work: starts them, goes on with those that it has taken over, and ends those that nobody works on
 * any more.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent, RunEvent } from '../../agents/contract.ts'
import type { SessionKey } from '../../agents/memory.ts'
import type { TurnEnd } from '../../agents/turn.ts'
import { reportError, ServableError } from '../../base/errors.ts'
import { later } from '../../base/wake.ts'
import { readLog } from '../../stores/read-log.ts'
import { mayPass } from '../../stores/remote/patient.ts'
import type { LocalParts, Retention } from '../../stores/state.ts'
import type { Reader, Soon, Store, Transaction } from '../../stores/store.ts'
import { eventToJson } from '../event-json.ts'
import { notStored } from '../failures.ts'
import { startRun } from '../run.ts'
import { Said } from '../sessions/run-turn.ts'
import type { HostSettings, StartRequest } from './host.ts'
import { askedIn, createJournal } from './journal.ts'
import { KeptWork } from './kept-work.ts'
import { LiveRun } from './live-run.ts'
import { RUNNING, RUNS, type StoredRun } from './record.ts'
import { foldLog, runKeepMsOf, sealRun } from './retention.ts'
import { type CutRun, INTERRUPTED, Takeover } from './takeover.ts'

/** Milliseconds until a run that could not go on, since the store could not be read, is looked at again. */
const GO_ON_RETRY_MS = 1000

/** What it needs. */
export interface LocalWorkOptions {
  readonly store: Store
  readonly settings: HostSettings
  readonly retention: Retention
  /** Runs whose time has come are only not found any more: someone else deletes them, and tells of it. */
  readonly leavesExpired?: boolean
  /** Keeps the store open while a run is at work. */
  readonly keepOpen?: LocalParts['keepOpen']
  /** Told when a run that this host had at work has ended, with its id. */
  readonly onEnded?: (id: string) => void
}

/** See the module's head. */
export class LocalWork {
  /** What is kept of runs, and which of them are at work here. */
  readonly kept: KeptWork<StoredRun, LiveRun>
  readonly #settings: HostSettings
  readonly #options: LocalWorkOptions
  readonly #store: Store
  readonly #takeover: Takeover

  constructor(options: LocalWorkOptions) {
    const { store, settings } = options
    this.#options = options
    this.#store = store
    this.#settings = settings
    this.kept = new KeptWork<StoredRun, LiveRun>(options, {
      collection: RUNS,
      atWork: RUNNING,
      isAtWork: ({ record }) => record.status === 'running',
      logOf: id => id,
      stop: (live, why) => live.stop(why),
      leave: live => live.leave(),
      conclude: (tx, id) => {
        const why = this.#takeover.take(tx, id)
        if (why !== undefined) finishUnattended(tx, id, why, options)
      },
      onConcluded: id => {
        this.#settings.notices?.send()
        const done = this.#goOnOrKeepTurn(id)
        this.#settings.working?.keep(done)
      },
      missing: () => new ServableError('run_not_found', 'There is no such run'),
    })
    this.#takeover = new Takeover(this.kept, settings)
  }

  /** Starts a run that is written down as this worker's. `cut` is what it has done and said before. */
  launch(
    { record: { id }, instance }: Pick<StoredRun, 'record' | 'instance'>,
    request: StartRequest,
    isJournalled: boolean,
    cut?: CutRun,
  ): void {
    const { target, input, owner, isBackground, secrets = [], continues, transport } = request
    const { leavesExpired: keepsJournal = false, onEnded } = this.#options
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
      ...{ owner, instance, isJournalled, before: cut, keepsJournal },
      model: target.servable.model,
      keepMs: isWaiting => runKeepMsOf({ ...target, owner }, this.#options, isWaiting),
      isBackground,
      client: request.client,
      leave: tx => this.#takeover.leave(tx, id, instance),
      onStuck: thrown => this.#settings.onFailure?.(notStored(id, target, { options, secrets, thrown })),
    })
    if (cut === undefined) live.watch.recent.begin()
    this.kept.add(id, live, {
      ended: live.ended,
      onEnded: () => {
        live.watch.changed.fire()
        this.#settings.notices?.send()
        if (onEnded === undefined) void this.#settings.onFree?.()
        else onEnded(id)
      },
    })
  }

  /** Leaves a run to other processes: false where it cannot go on there. */
  #retire(id: string, instance: string): Soon<boolean> {
    this.kept.worker.retire()
    return this.#store.write(tx => this.#takeover.leave(tx, id, instance))
  }

  /** Goes on with a run that was taken over; of one that has ended, the turn is kept. */
  async #goOnOrKeepTurn(id: string): Promise<void> {
    try {
      const isBegun = await this.kept.begin(id, async () => {
        const taken = await this.#store.read(tx => this.#takeover.taken(tx, id))
        if (taken !== undefined && this.kept.get(id) === undefined)
          this.launch(taken.run, taken.request, true, taken.cut)
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
    const event: ErrorEvent = { type: 'error', code, error: message }
    try {
      await this.#store.write(tx => finishUnattended(tx, id, event, this.#options))
      return true
    } catch {
      return false
    }
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
}

/** Ends a run that nobody here is working on. */
export function finishUnattended(
  tx: Transaction,
  id: string,
  event: FinishEvent | ErrorEvent,
  options: Pick<LocalWorkOptions, 'settings' | 'retention' | 'leavesExpired'>,
): void {
  const result = event.type === 'finish' ? foldLog(tx, id) : undefined
  const isCut = event.type === 'error' && event.code === INTERRUPTED.code
  const resumable = isCut && askedIn(tx, id)?.resumes === true
  const json = eventToJson(event)
  const run = tx.get<StoredRun>(RUNS, id)?.value
  const keepMs = run === undefined ? 0 : runKeepMsOf({ ...run.record, owner: run.owner }, options)
  const { settings, leavesExpired: keepsJournal } = options
  sealRun(tx, id, { event, json, result, keepMs, notices: settings.notices, resumable, keepsJournal })
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
