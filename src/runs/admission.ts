import { ServableError } from '../base/errors.ts'
import type { Document, Footing, Reader, Transaction } from '../stores/store.ts'
import type { HostSettings, IdempotencyKey } from './stored/host.ts'
import { KEYS, RUNNING, RUNS, type StoredRun, toDocument } from './stored/record.ts'

/** What is kept of an idempotency key. */
export interface KeyUse {
  readonly runId: string
  readonly fingerprint: string
}

/** Bytes that are kept for the end of a run, so that it can be written where there is room for nothing else. */
const END_BYTES = 2048

/** How much may be at work at a time: in all, and of one client. */
export type WorkBounds = Pick<HostSettings, 'maxRunning' | 'maxRunningPerOwner'>

/** A run, and whose place it takes. */
export interface AdmittedRun {
  readonly run: StoredRun
  /** Its owner's where nobody is named. */
  readonly client?: string | undefined
  /** When it has ended for certain, where nobody who knows better may tell. */
  readonly expiresAt?: number | undefined
  /** Bytes that it holds in memory while it is at work. Default: 0. */
  readonly inputBytes?: number | undefined
}

/** Writes down a run that is about to start. Throws `too_many_runs` where as many as may be are at work. */
export function admitRun(tx: Transaction, admitted: AdmittedRun, bounds: WorkBounds): void {
  const { run, client, expiresAt, inputBytes = 0 } = admitted
  const document = toDocument(run)
  const thing = run.record.id
  const place = placeOf(document, { instance: run.instance, client, expiresAt })
  takePlace(tx, RUNNING, place, bounds, { thing, weight: inputBytes + END_BYTES })
  tx.put(RUNS, document, { thing })
}

/** The place of what is at work. Its partition is the client who has it: its owner where nobody is named. */
export function placeOf(
  document: Document,
  { instance, client, expiresAt }: Omit<AdmittedRun, 'run'> & { readonly instance: string },
): Document<string> {
  const { id, at, partition } = document
  const place = { id, at, partition: client ?? partition, tags: {}, value: instance }
  return expiresAt === undefined ? place : { ...place, expiresAt }
}

/** Takes a place among those of a collection. Throws `too_many_runs` where all are taken, or all that one client may have. */
export function takePlace(
  tx: Transaction,
  collection: string,
  place: Document<string>,
  { maxRunning, maxRunningPerOwner }: WorkBounds,
  footing?: Footing,
): void {
  if (place.expiresAt !== undefined) {
    for (const { id } of tx.expired(collection, tx.now, EXPIRED_AT_ONCE)) tx.delete(collection, id)
  }
  const all = tx.count(collection)
  if (all >= maxRunning) throw tooManyRuns(`${maxRunning} are already at work`)
  const own = tx.count(collection, place.partition)
  if (own >= maxRunningPerOwner) throw tooManyRuns(`this client already has ${maxRunningPerOwner}`)
  if (own > 0 && all >= maxRunning - Math.floor(maxRunning / FIRST)) {
    throw tooManyRuns(`this client already has ${own}, and the last places are for clients that have none`)
  }
  tx.put(collection, place, footing)
}

const EXPIRED_AT_ONCE = 100

/** The part of all places that only clients get that have none: one of so many. */
const FIRST = 10

/** The run for which a key has been used; undefined for a new key. Throws `idempotency_mismatch` for another body. */
export function useOfKey(tx: Reader, key: IdempotencyKey): KeyUse | undefined {
  return checkUse(tx.get<KeyUse>(KEYS, key.id)?.value, key)
}

/** What is kept of a key, if anything. Throws `idempotency_mismatch` where it was used for another body. */
export function checkUse(use: KeyUse | undefined, key: IdempotencyKey): KeyUse | undefined {
  if (use === undefined || use.fingerprint === key.fingerprint) return use
  throw new ServableError(
    'idempotency_mismatch',
    'The `Idempotency-Key` was used with another body: use a new key',
  )
}

/** Ties a key to a run. */
export function reserveKey(tx: Transaction, key: IdempotencyKey, runId: string, expiresAt?: number): void {
  const value: KeyUse = { runId, fingerprint: key.fingerprint }
  const document = { id: key.id, partition: '', at: tx.now, tags: {}, expiresAt, value }
  tx.put<KeyUse>(KEYS, document, { thing: runId })
}

/** Why no more runs are taken. */
export function tooManyRuns(what: string): ServableError {
  return new ServableError('too_many_runs', `Too many runs: ${what}. Try again later`)
}
