import { isServableError, ServableError } from '../base/errors.ts'
import { takeExpired } from '../stores/alarm.ts'
import type { Document, Eviction, Reader, Transaction } from '../stores/store.ts'
import type { HostSettings, IdempotencyKey } from './stored/host.ts'
import { KEYS, RUNNING, RUNS, type StoredRun, toDocument } from './stored/record.ts'

/** The stored use of an idempotency key. */
export interface KeyUse {
  readonly runId: string
  readonly fingerprint: string
}

/** Bytes that are reserved for the end of a run, so that it can be written when the store has no other room. */
const END_BYTES = 2048

/** How many runs may be at work at a time: in total, and per client. */
export type WorkBounds = Pick<HostSettings, 'maxRunning' | 'maxRunningPerOwner'>

/** A run, and the client whose slot it takes. */
export interface AdmittedRun {
  readonly run: StoredRun
  /** Default: the run's owner. */
  readonly client?: string | undefined
  /** When it has ended for certain. Needed only where its end may not be reported. */
  readonly expiresAt?: number | undefined
  /** Bytes that it holds in memory while it is at work. Default: 0. */
  readonly inputBytes?: number | undefined
}

/** Writes a run that is about to start. Throws `too_many_runs` if the most that are allowed are at work. */
export function admitRun(tx: Transaction, admitted: AdmittedRun, bounds: WorkBounds): void {
  const { run, client, expiresAt, inputBytes = 0 } = admitted
  const document = toDocument(run)
  const thing = run.record.id
  const slot = slotOf(document, { instance: run.instance, client, expiresAt })
  takeSlot(tx, RUNNING, slot, bounds, { thing, weight: inputBytes + END_BYTES })
  // Its whole text is written with its end, which saves writing it twice.
  tx.put(RUNS, { ...document, text: run.record.title }, { thing })
}

/** Makes the slot of work. Its partition is the client that has it: the owner unless a client is named. */
export function slotOf(
  document: Document,
  { instance, client, expiresAt }: Omit<AdmittedRun, 'run'> & { readonly instance: string },
): Document<string> {
  const { id, at, partition } = document
  const slot = { id, at, partition: client ?? partition, tags: {}, value: instance }
  return expiresAt === undefined ? slot : { ...slot, expiresAt }
}

/** Takes a slot in a collection. Throws `too_many_runs` if none is free, or if the client has as many as it may. */
export function takeSlot(
  tx: Transaction,
  collection: string,
  slot: Document<string>,
  { maxRunning, maxRunningPerOwner }: WorkBounds,
  footing?: Eviction,
): void {
  // Only slots in the memory of an object expire, and no alarm is set for those.
  if (slot.expiresAt !== undefined) takeExpired(tx, { expiring: [collection] })
  // The bounds are loose between processes: two that admit at the same moment do not see each other.
  const count = (partition?: string) =>
    tx.recentCount?.(collection, partition) ?? tx.count(collection, partition)
  const all = count()
  if (all >= maxRunning) throw tooManyRuns(`${maxRunning} are already at work`)
  const own = count(slot.partition)
  if (own >= maxRunningPerOwner) throw tooManyRuns(`this client already has ${maxRunningPerOwner}`)
  if (own > 0 && all >= maxRunning - Math.floor(maxRunning / FIRST)) {
    throw tooManyRuns(`this client already has ${own}, and the last places are for clients that have none`)
  }
  tx.put(collection, slot, footing)
}

/** One in so many slots is reserved for clients that have none. */
const FIRST = 10

/** Returns the use of a key; undefined for a new key. Throws `idempotency_mismatch` for another body. */
export function useOfKey(tx: Reader, key: IdempotencyKey): KeyUse | undefined {
  return checkUse(tx.get<KeyUse>(KEYS, key.id)?.value, key)
}

/** Checks the stored use of a key. Throws `idempotency_mismatch` if it was used for another body. */
export function checkUse(use: KeyUse | undefined, key: IdempotencyKey): KeyUse | undefined {
  if (use === undefined || use.fingerprint === key.fingerprint) return use
  throw new ServableError(
    'idempotency_mismatch',
    'The `Idempotency-Key` was used with another body: use a new key',
  )
}

/** Stores the use of a key for a run. */
export function reserveKey(tx: Transaction, key: IdempotencyKey, runId: string, expiresAt?: number): void {
  const value: KeyUse = { runId, fingerprint: key.fingerprint }
  const document = { id: key.id, partition: '', at: tx.now, tags: {}, expiresAt, value }
  tx.put<KeyUse>(KEYS, document, { thing: runId })
}

/** Whether a run was refused because a limit is reached. */
export function isTooMany(error: unknown): boolean {
  return isServableError(error) && error.code === 'too_many_runs'
}

/** The error if no more runs may start. */
export function tooManyRuns(what: string): ServableError {
  return new ServableError('too_many_runs', `Too many runs: ${what}. Try again later`)
}
