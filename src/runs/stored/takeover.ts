/**
 * Decides which runs of dead workers go on, and with what. Any other ends with the error that `take` returns, such as `interrupted`;
 * `local-work.ts` writes that.
 *
 * @module
 */

import type { ErrorEvent } from '../../agents/contract.ts'
import type { Fold } from '../../agents/fold.ts'
import type { KeptWork } from '../../agents/work/work.ts'
import { MAX_DEATHS, restAfter } from '../../stores/deaths.ts'
import { sizeOf } from '../../stores/size.ts'
import type { Reader, Transaction } from '../../stores/store.ts'
import { slotOf } from '../admission.ts'
import { eventToJson } from '../event-json.ts'
import type { Target } from '../target.ts'
import type { HostSettings, StartRequest } from './host.ts'
import { countDeath, JOURNAL, requestIn, type StoredRequest, workIn } from './journal.ts'
import { isRunOf, RUNNING, RUNS, type StoredRun, toDocument } from './record.ts'
import { foldedLog } from './retention.ts'
import type { StoredWork } from './stored-work.ts'
import { isNobody, NOBODY, restingUntil } from './worker-name.ts'

/** A run that goes on, with its earlier work and output. */
export interface CutRun {
  readonly work: KeptWork
  /** Milliseconds since it began. */
  readonly sinceMs: number
  /** Entries of its journal. */
  readonly entries: number
  readonly fold: Fold
  /** The characters of its log, and its entries. */
  readonly bytes: number
  readonly length: number
}

/** A run that was taken over, and the request to start it with. */
interface TakenRun {
  readonly run: StoredRun
  readonly request: StartRequest
  readonly cut: CutRun
}

/** The end of a run whose process died. */
export const INTERRUPTED: ErrorEvent = {
  type: 'error',
  code: 'interrupted',
  error: 'The server stopped before the run ended',
}

/** The end of a run whose processes died one after the other. */
const GIVEN_UP: ErrorEvent = {
  ...INTERRUPTED,
  error: `The server stopped ${MAX_DEATHS} times in a row while the run was at work, which got no further`,
}

const CHANGED: ErrorEvent = {
  type: 'error',
  code: 'code_changed',
  error: 'The run cannot go on: it began with another version',
}

/** The parts of the host that a takeover needs: its name, and its recovery to record that it has something at work. */
type Worker = Pick<StoredWork<StoredRun, unknown>, 'worker' | 'recovery' | 'lookUp'>

/** Takes runs over for one host, and leaves its own runs to others. */
export class Takeover {
  readonly #host: Worker
  readonly #settings: Pick<HostSettings, 'targetOf' | 'maxLength' | 'hasTexts'>

  constructor(host: Worker, settings: Pick<HostSettings, 'targetOf' | 'maxLength' | 'hasTexts'>) {
    this.#host = host
    this.#settings = settings
  }

  /**
   * Makes a run this host's, if it can go on; else returns its end. The first host that writes this has the run. If several of
   * its workers have died, the run rests before that.
   */
  take(tx: Transaction, id: string): ErrorEvent | undefined {
    const asked = requestIn(tx, id)
    if (asked?.resumes !== true) return INTERRUPTED
    const target = this.#targetOf(asked)
    if (target !== undefined && target.servable.version !== asked.version) return CHANGED
    if (target?.servable.resume !== true || asked.usedKey === true) return INTERRUPTED
    const { record, instance } = tx.get<StoredRun>(RUNS, id)!.value
    const { own } = this.#host.worker
    // A run that was left to others, or that never began, has killed no process.
    const deaths = isNobody(instance) || instance === own ? 0 : countDeath(tx, id, asked)
    if (deaths >= MAX_DEATHS) return GIVEN_UP
    const restMs = restAfter(deaths, placeOf(id))
    if (restMs > 0) {
      this.#give(tx, id, restingUntil(instance, tx.now + restMs), asked)
      return undefined
    }
    const resumed = { type: 'resumed', at: Math.trunc(sinceOf(tx, record.createdAt)) } as const
    if (tx.append(id, eventToJson(resumed)) === undefined) return INTERRUPTED
    this.#give(tx, id, own, asked)
    return undefined
  }

  /** Returns a run that was taken over and has not begun yet; undefined for any other. */
  taken(tx: Reader, id: string): TakenRun | undefined {
    const run = this.#host.lookUp(tx, id)
    const asked = requestIn(tx, id)
    if (run?.record.status !== 'running' || run.instance !== this.#host.worker.own) return undefined
    if (asked === undefined) return undefined
    const target = this.#targetOf(asked)
    if (target === undefined) return undefined
    const { record, owner } = run
    const { isBackground = false } = asked
    return {
      run,
      request: { ...asked, target, owner, isBackground },
      cut: {
        ...foldedLog(tx, id, this.#settings.maxLength),
        work: workIn(tx, id, asked),
        entries: tx.count(JOURNAL, id),
        sinceMs: sinceOf(tx, record.createdAt),
      },
    }
  }

  /** Leaves a run of that worker to others. Returns false if it cannot go on there. */
  leave(tx: Transaction, id: string, instance: string): boolean {
    const asked = requestIn(tx, id)
    if (asked?.resumes !== true || asked.usedKey === true) return false
    if (tx.isSealed(id) || !isRunOf(tx, id, instance)) return false
    this.#give(tx, id, NOBODY, asked)
    return true
  }

  /** Assigns a run at work to a worker. */
  #give(tx: Transaction, id: string, instance: string, { client, input }: StoredRequest): void {
    const document = toDocument({ ...tx.get<StoredRun>(RUNS, id)!.value, instance })
    const slot = slotOf(document, { instance, client })
    this.#host.recovery.enlist(tx, instance)
    tx.put(RUNNING, slot, { thing: id, weight: sizeOf(input) })
    tx.put(RUNS, { ...document, text: document.value.record.title }, { thing: id })
  }

  #targetOf({ target }: StoredRequest): Target | undefined {
    try {
      return this.#settings.targetOf?.(target)
    } catch {
      return undefined
    }
  }
}

function sinceOf(tx: Reader, createdAt: string): number {
  return Math.max(0, tx.now - Date.parse(createdAt))
}

/** A number from 0 to 1 that differs from run to run. At random, a transaction that runs again would read another worker's name. */
function placeOf(id: string): number {
  let hash = 0
  for (let at = 0; at < id.length; at++) hash = (hash * 31 + id.charCodeAt(at)) % 1_000_003
  return hash / 1_000_003
}
