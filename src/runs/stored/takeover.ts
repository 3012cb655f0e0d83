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
import { RUNNING, RUNS, type StoredRun, toDocument } from './record.ts'
import { foldedLog } from './retention.ts'
import type { StoredDocument, StoredWork } from './stored-work.ts'
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

/** What can be taken over: stored runs, or the turns of tasks. Each is found by its own id. */
export interface TakeoverKind<T> {
  /** The run at work, and when it began; undefined if it has ended. Milliseconds since 1970. */
  runOf(kept: T): { readonly id: string; readonly at: number } | undefined
  /** A full store deletes all parts of this together. */
  thingOf(id: string): string
  /** Writes that it goes on, so many milliseconds after its beginning. Returns false if it has ended. */
  resume(tx: Transaction, id: string, at: number): boolean
  /** Writes the worker that has it. */
  assign(tx: Transaction, kept: T, instance: string, asked: StoredRequest): void
  /** Reads its output. */
  outputOf(tx: Reader, id: string): Pick<CutRun, 'fold' | 'bytes' | 'length'>
}

/** Work that was taken over, and the request to start it with. */
interface Taken<T> {
  readonly kept: T
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
type Worker<T extends StoredDocument> = Pick<StoredWork<T, unknown>, 'worker' | 'recovery' | 'lookUp'>

/** Takes runs over for one host, and leaves its own runs to others. */
export class Takeover<T extends StoredDocument> {
  readonly #host: Worker<T>
  readonly #targetIn: HostSettings['targetOf']
  readonly #kind: TakeoverKind<T>

  constructor(host: Worker<T>, targetOf: HostSettings['targetOf'], kind: TakeoverKind<T>) {
    this.#host = host
    this.#targetIn = targetOf
    this.#kind = kind
  }

  /**
   * Makes a run this host's, if it can go on; else returns its end. The first host that writes this has the run. If several of
   * its workers have died, the run rests before that.
   */
  take(tx: Transaction, id: string): ErrorEvent | undefined {
    const { kept, run, asked } = this.#read(tx, id)
    if (kept === undefined || run === undefined || asked?.resumes !== true) return INTERRUPTED
    const target = this.#targetOf(asked)
    if (target !== undefined && target.servable.version !== asked.version) return CHANGED
    if (target?.servable.resume !== true || asked.usedKey === true) return INTERRUPTED
    const { instance } = kept
    const { own } = this.#host.worker
    const { thingOf, resume } = this.#kind
    // A run that was left to others, or that never began, has killed no process.
    const deaths = isNobody(instance) || instance === own ? 0 : countDeath(tx, run.id, asked, thingOf(id))
    if (deaths >= MAX_DEATHS) return GIVEN_UP
    const restMs = restAfter(deaths, placeOf(id))
    if (restMs > 0) {
      this.#give(tx, kept, restingUntil(instance, tx.now + restMs), asked)
      return undefined
    }
    if (!resume(tx, id, Math.trunc(sinceOf(tx, run.at)))) return INTERRUPTED
    this.#give(tx, kept, own, asked)
    return undefined
  }

  /** Returns a run that was taken over and has not begun yet; undefined for any other. */
  taken(tx: Reader, id: string): Taken<T> | undefined {
    const { kept, run, asked } = this.#read(tx, id)
    if (kept === undefined || run === undefined || kept.instance !== this.#host.worker.own) return undefined
    if (asked === undefined) return undefined
    const target = this.#targetOf(asked)
    if (target === undefined) return undefined
    const { isBackground = false } = asked
    return {
      kept,
      request: { ...asked, target, owner: kept.owner, isBackground },
      cut: {
        ...this.#kind.outputOf(tx, id),
        work: workIn(tx, run.id, asked),
        entries: tx.count(JOURNAL, run.id),
        sinceMs: sinceOf(tx, run.at),
      },
    }
  }

  /** Leaves a run of that worker to others. Returns false if it cannot go on there. */
  leave(tx: Transaction, id: string, instance: string): boolean {
    const { kept, run, asked } = this.#read(tx, id)
    if (asked?.resumes !== true || asked.usedKey === true) return false
    if (kept === undefined || run === undefined || kept.instance !== instance) return false
    this.#give(tx, kept, NOBODY, asked)
    return true
  }

  #read(tx: Reader, id: string) {
    const kept = this.#host.lookUp(tx, id)
    const run = kept && this.#kind.runOf(kept)
    return { kept, run, asked: run && requestIn(tx, run.id) }
  }

  /** Assigns a run at work to a worker. */
  #give(tx: Transaction, kept: T, instance: string, asked: StoredRequest): void {
    this.#host.recovery.enlist(tx, instance)
    this.#kind.assign(tx, kept, instance, asked)
  }

  #targetOf({ target }: StoredRequest): Target | undefined {
    try {
      return this.#targetIn?.(target)
    } catch {
      return undefined
    }
  }
}

/** Stored runs, as what can be taken over. */
export function takesRuns({ maxLength }: Pick<HostSettings, 'maxLength'>): TakeoverKind<StoredRun> {
  return {
    runOf: ({ record: { id, status, createdAt } }) =>
      status === 'running' ? { id, at: Date.parse(createdAt) } : undefined,
    thingOf: id => id,
    resume: (tx, id, at) => tx.append(id, eventToJson({ type: 'resumed', at })) !== undefined,
    assign(tx, run, instance, { client, input }) {
      const { id, title: text } = run.record
      const document = toDocument({ ...run, instance })
      tx.put(RUNNING, slotOf(document, { instance, client }), { thing: id, weight: sizeOf(input) })
      tx.put(RUNS, { ...document, text }, { thing: id })
    },
    outputOf: (tx, id) => foldedLog(tx, id, maxLength),
  }
}

function sinceOf(tx: Reader, at: number): number {
  return Math.max(0, tx.now - at)
}

/** A number from 0 to 1 that differs from run to run. At random, a transaction that runs again would read another worker's name. */
function placeOf(id: string): number {
  let hash = 0
  for (let at = 0; at < id.length; at++) hash = (hash * 31 + id.charCodeAt(at)) % 1_000_003
  return hash / 1_000_003
}
