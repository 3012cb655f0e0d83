/**
 * The data of an index object about runs: the list of an owner's runs, the counts of running runs, and idempotency keys.
 *
 * @module
 */

import type { ObjectContext, ObjectService } from '../../core/hosted.ts'
import { objectServiceOf } from '../../core/object-service.ts'
import type { Transactions } from '../../core/transaction-calls.ts'
import { type KeyUse, reserveKey, slotOf, takeSlot, useOfKey, type WorkBounds } from '../../runs/admission.ts'
import type { IdempotencyKey, RunPage, RunQuery, Viewer } from '../../runs/stored/host.ts'
import { listRuns } from '../../runs/stored/list.ts'
import { decodeCursor } from '../../runs/stored/page.ts'
import {
  idsOf,
  KEYS,
  partitionOf,
  RUNNING,
  RUNS,
  type StoredRun,
  toDocument,
} from '../../runs/stored/record.ts'
import { tooManyWaiting, WAITING } from '../../runs/waiting/waiting.ts'
import type { Position, Reader, Transaction } from '../../stores/store.ts'

/** The name of the services for runs. No plugin can have it. */
export const RUN_SERVICE = 'core:run'

/** The address of the index object of a key. */
export function addressOfKey(keyId: string): string {
  return `key:${keyId}`
}

/** The address of the index object with the runs of all owners. */
export const LIST_OF_ALL = 'all'

/** The type of {@link RUN_INDEX}. */
export interface RunIndex extends Transactions {
  readonly reads: {
    readonly list: (tx: Reader, owner: Viewer, query: RunQuery) => RunPage
    /** Ids of runs that a reference from the log may refer to. */
    readonly idsOf: (tx: Reader, reference: string) => readonly string[]
  }
  readonly writes: {
    /** Throws `too_many_runs` if the owner or the client has too many running runs. */
    readonly admit: (tx: Transaction, run: StoredRun, client: string, bounds: SlotBounds) => void
    readonly update: (tx: Transaction, run: StoredRun, expiresAt: number | undefined) => void
    /** Counts a waiting plain run of a client. Throws `too_many_runs`. */
    readonly wait: (tx: Transaction, id: string, client: string, max: number, expiresAt: number) => void
    readonly remove: (tx: Transaction, id: string) => void
    /** Returns the run of a key. A new key gets `runId`. */
    readonly reserve: (tx: Transaction, key: IdempotencyKey, runId: string, expiresAt: number) => string
    /** Frees the key of a deleted run. */
    readonly free: (tx: Transaction, keyId: string, runId: string) => void
  }
}

/** The transactions of an index object. */
export const RUN_INDEX: RunIndex = {
  expiring: [KEYS, WAITING],
  // Running runs are counted in memory. After an eviction, the list restores the counts.
  inMemory: [RUNNING],
  reads: {
    list(tx, owner, query) {
      if (query.cursor !== undefined) decodeCursor(query.cursor)
      return listRuns(tx, owner, query)
    },
    idsOf: (tx, reference) => idsOf(tx, RUNS, reference),
  },
  writes: {
    admit(tx, run, client, bounds) {
      if (tx.get(RUNS, run.record.id) === undefined) admitListed(tx, run, client, bounds)
    },
    update(tx, run, expiresAt) {
      tx.put(RUNS, { ...toDocument(run, expiresAt), text: textOf(run) })
      tx.delete(RUNNING, run.record.id)
      const { status, continuedBy, resumable } = run.record
      if (continuedBy ?? resumable ?? status === 'failed') tx.delete(WAITING, run.record.id)
    },
    wait(tx, id, client, max, expiresAt) {
      if (tx.count(WAITING, client) >= max) throw tooManyWaiting(max)
      tx.put(WAITING, { id, partition: client, at: tx.now, tags: {}, value: null, expiresAt })
    },
    remove(tx, id) {
      tx.delete(RUNS, id)
      tx.delete(WAITING, id)
      tx.delete(RUNNING, id)
    },
    reserve(tx, key, runId, expiresAt) {
      const use = useOfKey(tx, key)
      if (use === undefined) reserveKey(tx, key, runId, expiresAt)
      return use?.runId ?? runId
    },
    free(tx, keyId, runId) {
      if (tx.get<KeyUse>(KEYS, keyId)?.value.runId === runId) tx.delete(KEYS, keyId)
    },
  },
}

/** Creates the service of an index object. */
export function createRunIndex(context: ObjectContext): ObjectService {
  const service = objectServiceOf(context, RUN_INDEX)
  let hasSlots = false
  /** Restores the counts in a transaction of its own, since a refused run undoes its own transaction. */
  const fill = ([run, , bounds]: AdmitArgs) => {
    context.store.write(tx => fillSlots(tx, partitionOf(run.owner), bounds))
    hasSlots = true
  }
  return {
    ...service,
    ask(method, args) {
      if (method === 'admit' && !hasSlots) fill(args as AdmitArgs)
      return service.ask(method, args)
    },
  }
}

type AdmitArgs = readonly [run: StoredRun, client: string, bounds: SlotBounds]

/** The limits of running runs, in number and duration. */
interface SlotBounds extends WorkBounds {
  readonly timeoutMs: number
}

/** Milliseconds by which an object may be late to report an end. */
const LATE_MS = 60_000

/** Documents to read at once. */
const AT_ONCE = 1000

/** The time by which a run has ended for certain, even if its object could not report it. */
function workExpiry({ timeoutMs }: SlotBounds, begunAt: number): number {
  return begunAt + timeoutMs + LATE_MS
}

/** Lists a run that is about to start. Throws `too_many_runs` if the limit of running runs is reached. */
function admitListed(tx: Transaction, run: StoredRun, client: string, bounds: SlotBounds): void {
  const document = toDocument(run)
  const slot = slotOf(document, { instance: run.instance, client, expiresAt: workExpiry(bounds, tx.now) })
  takeSlot(tx, RUNNING, slot, bounds)
  // While the run is running, its document names the client that it counts for.
  tx.put(RUNS, { ...document, text: textOf(run), tags: { ...document.tags, client } })
}

/** The text by which a list finds a run: what its row has, the title and the error. */
function textOf({ record: { title, error } }: StoredRun): string {
  return [error?.message, title].filter(Boolean).join('\n')
}

/** Counts the listed running runs again, after the object was evicted from memory. */
function fillSlots(tx: Transaction, partition: string, bounds: SlotBounds): void {
  const since = tx.now - workExpiry(bounds, 0)
  const filter = { partition, tags: { status: 'running' }, since }
  let after: Position | undefined
  do {
    const { documents, next } = tx.search<StoredRun>(RUNS, {
      ...filter,
      after,
      limit: AT_ONCE,
      looks: AT_ONCE,
    })
    for (const document of documents) {
      const { instance } = document.value
      const { client } = document.tags
      tx.put(RUNNING, slotOf(document, { instance, client, expiresAt: workExpiry(bounds, document.at) }))
    }
    after = next
  } while (after !== undefined)
}
