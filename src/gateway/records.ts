/**
 * What is known of a socket whose client may come back: whose it is, and its runs. What they say stands in their own
 * logs.
 *
 * @module
 */

import type { RunHost } from '../runs/host.ts'
import type { Transaction } from '../state/store.ts'
import type { Seen } from './place.ts'

/** The n-th run of a socket, and whether it ends with its socket. */
export type NumberedRun = readonly [n: number, runId: string, isBound: boolean]

/** A socket, as it is kept beside its runs. It never holds a key. */
export interface SocketRecord {
  /** The socket's public id. */
  readonly id: string
  readonly owner: string | null
  /** How many connections it has had: what an earlier one says of it counts no more. */
  readonly generation: number
  /** Its last runs, by number. */
  readonly runs: readonly NumberedRun[]
}

/** Keeps such records by the socket's private id. */
export interface SocketRecords {
  /**
   * The socket has begun a run, beside those with the numbers `open`. Makes the record where there is none. False where
   * another connection has taken the socket's place.
   */
  begin(
    pid: string,
    socket: Omit<SocketRecord, 'runs'>,
    run: NumberedRun,
    open: readonly number[],
  ): Promise<boolean>
  /** The client is back on another connection; undefined where nothing is known, or of another owner. */
  take(pid: string, owner: string | null): Promise<SocketRecord | undefined>
  /** The client is away: its runs are cancelled unless it comes back in time. */
  away(pid: string, generation: number): Promise<void>
  /** The client has left for good. */
  drop(pid: string, generation: number): Promise<void>
}

/** The collection of such records. */
export const SOCKETS = 'socket'

/**
 * Runs of one socket that are known when its client comes back, beside those that are under way: some 13 kB. A client that
 * has missed more is not brought back, and so is told.
 */
const MAX_RUNS = 256

/** The number of the socket's last run. */
export function lastRun({ runs }: SocketRecord): number {
  return runs.at(-1)?.[0] ?? 0
}

/** Whether the record has every run that a client has not seen the end of. */
export function hasMissed(record: SocketRecord, { begun, open }: Seen): boolean {
  const known = new Set(record.runs.map(([n]) => n))
  const last = lastRun(record)
  for (let n = begun + 1; n <= last; n++) if (!known.has(n)) return false
  return [...open.keys()].every(n => known.has(n))
}

/** Adds a run. The record lives until `expiresAt` at the most, should nobody say that its client has left. */
export function addRun(
  tx: Transaction,
  pid: string,
  { id, owner, generation }: Omit<SocketRecord, 'runs'>,
  run: NumberedRun,
  { open, expiresAt }: { open: readonly number[]; expiresAt: number },
): boolean {
  const before = tx.get<SocketRecord>(SOCKETS, pid)?.value
  if (before !== undefined && before.generation > generation) return false
  // Runs that begin at once may be written down in another order.
  const all = [...(before?.runs ?? []), run].sort(([a], [b]) => a - b)
  const runs = all.filter(([n], at) => open.includes(n) || all.length - at <= MAX_RUNS)
  put(tx, pid, { id, owner, generation, runs }, expiresAt)
  return true
}

/** Hands the record to the next connection. */
export function takeRecord(
  tx: Transaction,
  pid: string,
  owner: string | null,
  expiresAt: number,
): SocketRecord | undefined {
  const document = tx.get<SocketRecord>(SOCKETS, pid)
  if (document === undefined || (document.expiresAt ?? 0) <= tx.now) return undefined
  const before = document.value
  if (before.owner !== owner) return undefined
  const record = { ...before, generation: before.generation + 1 }
  put(tx, pid, record, expiresAt)
  return record
}

/** Sets the record's end, if it is still this connection's; says whether it is. */
export function expireRecord(tx: Transaction, pid: string, generation: number, expiresAt: number): boolean {
  const record = tx.get<SocketRecord>(SOCKETS, pid)?.value
  if (record === undefined || record.generation !== generation) return false
  put(tx, pid, record, expiresAt)
  return true
}

/** Takes away the records whose time has come, and gives them: their runs are to be cancelled. */
export function takeExpired(tx: Transaction, now: number): SocketRecord[] {
  return tx.expired<SocketRecord>(SOCKETS, now, 100).map(({ id, value }) => {
    tx.delete(SOCKETS, id)
    return value
  })
}

/** Cancels what of it is still at work, and ends with it. */
export async function cancelRuns(host: RunHost, { owner, runs }: SocketRecord): Promise<void> {
  // A run that has ended, or is gone, is as good as cancelled.
  const bound = runs.filter(([, , isBound]) => isBound)
  await Promise.all(bound.map(([, runId]) => host.cancel(runId, owner).catch(() => {})))
}

function put(tx: Transaction, pid: string, record: SocketRecord, expiresAt: number): void {
  tx.put(SOCKETS, { id: pid, partition: '', at: tx.now, tags: {}, value: record, expiresAt })
}
