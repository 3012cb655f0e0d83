import { ServableError } from '../errors.ts'
import type { Transaction } from '../state/store.ts'
import type { HostSettings, IdempotencyKey } from './host.ts'
import { KEYS, partitionOf, RUNNING, RUNS, type StoredRun, toDocument } from './record.ts'

/** What is kept of an idempotency key. */
export interface KeyUse {
  readonly runId: string
  readonly fingerprint: string
}

/** Writes down a run that is about to start. Throws `too_many_runs` where as many as may be are at work. */
export function admitRun(
  tx: Transaction,
  run: StoredRun,
  bounds: Pick<HostSettings, 'maxRunning' | 'maxRunningPerOwner'>,
): void {
  checkRunning(tx, run.owner, bounds)
  const document = toDocument(run)
  tx.put(RUNS, document)
  tx.put(RUNNING, { ...document, tags: {}, value: run.instance })
}

/** The run for which a key has been used; undefined for a new key. Throws `idempotency_mismatch` for another body. */
export function useOfKey(tx: Transaction, key: IdempotencyKey): KeyUse | undefined {
  const use = tx.get<KeyUse>(KEYS, key.id)?.value
  if (use === undefined || use.fingerprint === key.fingerprint) return use
  throw new ServableError(
    'idempotency_mismatch',
    'The `Idempotency-Key` was used for another body: use a new one',
  )
}

/** Ties a key to a run. */
export function reserveKey(tx: Transaction, key: IdempotencyKey, runId: string, expiresAt?: number): void {
  const value: KeyUse = { runId, fingerprint: key.fingerprint }
  tx.put<KeyUse>(KEYS, { id: key.id, partition: '', at: Date.now(), tags: {}, expiresAt, value })
}

/** Runs without an owner count in all only: nothing tells one client from another. */
function checkRunning(
  tx: Transaction,
  owner: string | null,
  { maxRunning, maxRunningPerOwner }: Pick<HostSettings, 'maxRunning' | 'maxRunningPerOwner'>,
): void {
  if (tx.count(RUNNING) >= maxRunning) throw tooManyRuns(`${maxRunning} followed runs are`)
  if (owner !== null && tx.count(RUNNING, partitionOf(owner)) >= maxRunningPerOwner) {
    throw tooManyRuns(`${maxRunningPerOwner} of your runs are`)
  }
}

function tooManyRuns(what: string): ServableError {
  return new ServableError('too_many_runs', `${what} at work already: try again later`)
}
