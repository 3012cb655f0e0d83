/**
 * Starts the runs of this process, goes on with those that it has taken over, and ends those that nobody works on any more.
 *
 * @module
 */

import type { ErrorEvent, FinishEvent, RunEvent } from '../../agents/contract.ts'
import type { EndedTurn, SessionKey } from '../../agents/memory.ts'
import { reportError, ServableError } from '../../base/errors.ts'
import { later } from '../../base/wake.ts'
import { readLog } from '../../stores/read-log.ts'
import { mayPass } from '../../stores/remote/retrying.ts'
import type { LocalParts, Retention } from '../../stores/state.ts'
import type { Reader, Store, Transaction } from '../../stores/store.ts'
import { eventToJson } from '../event-json.ts'
import { TurnOutput } from '../sessions/run-turn.ts'
import type { HostSettings, StartRequest } from './host.ts'
import { requestIn } from './journal.ts'
import { launchRun } from './launch.ts'
import type { LiveRun } from './live-run.ts'
import { isTurn, RUNNING, RUNS, type StoredRun } from './record.ts'
import { foldedLog, runKeepMsOf, sealRun } from './retention.ts'
import { StoredWork } from './stored-work.ts'
import { type CutRun, INTERRUPTED, Takeover, takesRuns } from './takeover.ts'

/** Milliseconds until the next attempt to go on with a run after the store could not be read. */
const GO_ON_RETRY_MS = 1000

/** The fewest bytes of an event in the log. */
const LEAST_EVENT = 24

/** The options of {@link LocalWork}. */
export interface LocalWorkOptions {
  readonly store: Store
  readonly settings: HostSettings
  readonly retention: Retention
  /** Whether expired runs are only hidden. Another part deletes them and reports it. */
  readonly leavesExpired?: boolean
  /** Keeps the store open while a run is at work. */
  readonly keepOpen?: LocalParts['keepOpen']
  /** Called with the id when a run of this host has ended. */
  readonly onEnded?: (id: string) => void
}

/** The runs at work in this process. */
export class LocalWork {
  /** The stored runs, and which of them are at work here. */
  readonly kept: StoredWork<StoredRun, LiveRun>
  readonly #settings: HostSettings
  readonly #options: LocalWorkOptions
  readonly #store: Store
  readonly #takeover: Takeover<StoredRun>

  constructor(options: LocalWorkOptions) {
    const { store, settings } = options
    this.#options = options
    this.#store = store
    this.#settings = settings
    this.kept = new StoredWork<StoredRun, LiveRun>(options, {
      collection: RUNS,
      atWork: RUNNING,
      isAtWork: ({ record }) => record.status === 'running' && !isTurn(record),
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
    this.#takeover = new Takeover(this.kept, settings.targetOf, takesRuns(settings))
  }

  /** Starts a run that is written as this worker's. `cut` has its earlier work and output. */
  launch(
    { record: { id }, instance }: Pick<StoredRun, 'record' | 'instance'>,
    request: StartRequest,
    isJournalled: boolean,
    cut?: CutRun,
  ): void {
    const { leavesExpired: keepsJournal = false, onEnded, settings } = this.#options
    const { target, owner } = request
    const { live } = launchRun(request, {
      ...{ id, instance, isJournalled, cut, keepsJournal, settings },
      store: this.#store,
      keepMs: isWaiting => runKeepMsOf({ ...target, owner }, this.#options, isWaiting),
      leave: tx => this.#takeover.leave(tx, id, instance),
      retire: () => this.kept.worker.retire(),
    })
    if (cut === undefined) live.watch.recent.begin()
    this.kept.add(id, live, {
      ended: live.ended,
      onEnded: () => {
        live.watch.changed.fire()
        settings.notices?.send()
        settings.alarm?.wake()
        if (onEnded === undefined) void settings.onFree?.()
        else onEnded(id)
      },
    })
  }

  /** Goes on with a run that was taken over. For one that has ended, stores its turn. */
  async #goOnOrKeepTurn(id: string): Promise<void> {
    try {
      const isBegun = await this.kept.begin(id, async () => {
        const taken = await this.#store.read(tx => this.#takeover.taken(tx, id))
        if (taken !== undefined && this.kept.get(id) === undefined)
          this.launch(taken.kept, taken.request, true, taken.cut)
        return taken !== undefined
      })
      if (!isBegun) await this.#keepTurn(id)
    } catch (error) {
      // No other host finds it while this one is alive.
      this.#settings.memory?.sessions?.failed(error)
      if (!mayPass(error) && (await this.#hasFailed(id, error))) return this.#keepTurn(id)
      await later(GO_ON_RETRY_MS)
      return this.#goOnOrKeepTurn(id)
    }
  }

  /** Fails a run that can never go on. Returns false if that cannot be written now. */
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

  /** Makes the turn of a run that nobody here worked on from its log, and stores it. */
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

/** Ends a run that nobody here works on. */
export function finishUnattended(
  tx: Transaction,
  id: string,
  event: FinishEvent | ErrorEvent,
  options: Pick<LocalWorkOptions, 'settings' | 'retention' | 'leavesExpired'>,
): void {
  const folded = event.type === 'finish' ? foldedLog(tx, id) : undefined
  const result = folded?.fold.result({ runId: id, durationMs: 0 })
  const bytes = folded?.bytes ?? tx.length(id) * LEAST_EVENT
  const isCut = event.type === 'error' && event.code === INTERRUPTED.code
  const resumable = isCut && requestIn(tx, id)?.resumes === true
  const json = eventToJson(event)
  const run = tx.get<StoredRun>(RUNS, id)?.value
  const keepMs = run === undefined ? 0 : runKeepMsOf({ ...run.record, owner: run.owner }, options)
  const { settings, leavesExpired } = options
  const { notices, piecesMs, keepJournal } = settings
  const keepsJournal = leavesExpired || keepJournal
  sealRun(tx, id, {
    event,
    json,
    result,
    keepMs,
    notices,
    resumable,
    keepsJournal,
    bytes,
    piecesMs,
    searched: settings,
  })
}

/** Makes the turn of an ended run from its log; undefined for a run without a session. */
function turnOf(
  tx: Reader,
  id: string,
): { readonly session: SessionKey; readonly end: Omit<EndedTurn, 'runId'> } | undefined {
  const session = tx.get<StoredRun>(RUNS, id)?.value.session
  if (session === undefined) return undefined
  const output = new TurnOutput()
  let end: Omit<EndedTurn, 'runId'> | undefined
  for (const { data } of readLog(tx, id)) {
    const event = JSON.parse(data) as RunEvent
    if (event.type === 'finish' || event.type === 'error') end = output.end(event)
    else output.add(event)
  }
  return end && { session, end }
}
