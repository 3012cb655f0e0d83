/**
 * The records of sockets whose clients may reconnect: the owner and the runs of a socket. The events of the runs are in the
 * runs' own logs.
 *
 * @module
 */

import type { RunHost } from '../../../runs/stored/host.ts'
import type { Position, Store, Transaction } from '../../../stores/store.ts'
import type { SeenEvents } from './socket-position.ts'

/** The n-th run of a socket. `isBound` says whether the run is cancelled when its socket ends. */
export type NumberedRun = readonly [n: number, runId: string, isBound: boolean]

/** The record of a socket. It never contains a key. */
export interface SocketRecord {
  /** The socket's public id. */
  readonly id: string
  readonly owner: string | null
  /** How many connections the socket has had. Changes by an earlier connection are ignored. */
  readonly generation: number
  /** The socket's latest runs, sorted by number. */
  readonly runs: readonly NumberedRun[]
}

/** Stores the records by the sockets' private ids. */
export interface SocketRecords {
  /**
   * Stores that the socket has begun a run. `open` has the numbers of its other unfinished runs. Creates the record if
   * there is none. Returns false if another connection has taken over the socket.
   */
  begin(
    pid: string,
    socket: Omit<SocketRecord, 'runs'>,
    run: NumberedRun,
    open: readonly number[],
  ): Promise<boolean>
  /**
   * Gives the record to a new connection of the client. Returns undefined if there is no record or it belongs to another
   * owner.
   */
  take(pid: string, owner: string | null): Promise<SocketRecord | undefined>
  /** Call it when the client has lost its connection. Its bound runs are cancelled unless it reconnects in time. */
  away(pid: string, generation: number): Promise<void>
  /** Call it when the client has disconnected for good. Its bound runs are cancelled. */
  drop(pid: string, generation: number): Promise<void>
}

/** The collection of records. */
export const SOCKETS = 'socket'

/**
 * How many of the latest runs a record has, besides all unfinished ones: some 13 kB. A client that has missed more runs
 * gets a new socket.
 */
const MAX_RUNS = 256

/** The number of the socket's last run. */
export function lastRun({ runs }: SocketRecord): number {
  return runs.at(-1)?.[0] ?? 0
}

/** Whether the record has every run whose end the client has not received. */
export function hasMissed(record: SocketRecord, { begun, open }: SeenEvents): boolean {
  const known = new Set(record.runs.map(([n]) => n))
  const last = lastRun(record)
  for (let n = begun + 1; n <= last; n++) if (!known.has(n)) return false
  return [...open.keys()].every(n => known.has(n))
}

/** Adds a run. The record expires at `expiresAt` if nothing else ends it before. */
export function addRun(
  tx: Transaction,
  pid: string,
  { id, owner, generation }: Omit<SocketRecord, 'runs'>,
  run: NumberedRun,
  { open, expiresAt }: { open: readonly number[]; expiresAt: number },
): boolean {
  const before = tx.get<SocketRecord>(SOCKETS, pid)?.value
  if (before !== undefined && before.generation > generation) return false
  // Runs that begin at the same time may be stored in another order.
  const all = [...(before?.runs ?? []), run].sort(([a], [b]) => a - b)
  const runs = all.filter(([n], at) => open.includes(n) || all.length - at <= MAX_RUNS)
  put(tx, pid, { id, owner, generation, runs }, expiresAt)
  return true
}

/** Gives the record to the next connection. */
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

/** Sets the end of the record if it still belongs to this connection. Returns whether it does. */
export function expireRecord(tx: Transaction, pid: string, generation: number, expiresAt: number): boolean {
  const record = tx.get<SocketRecord>(SOCKETS, pid)?.value
  if (record === undefined || record.generation !== generation) return false
  put(tx, pid, record, expiresAt)
  return true
}

/** Records that one transaction reads. */
const AT_ONCE = 100

/** Deletes the records of an owner. Returns whether there were any. */
export async function forgetRecords(store: Store, owner: string | null): Promise<boolean> {
  let hasFound = false
  let after: Position | undefined
  do {
    const page = await store.write(tx => {
      const documents = tx.list<SocketRecord>(SOCKETS, { partition: '', after, limit: AT_ONCE })
      const own = documents.filter(({ value }) => value.owner === owner)
      for (const { id } of own) tx.delete(SOCKETS, id)
      return { last: documents.at(-1), isFound: own.length > 0 }
    })
    hasFound ||= page.isFound
    after = page.last
  } while (after !== undefined)
  return hasFound
}

/** Cancels the unfinished runs that end with the socket. */
export async function cancelRuns(host: RunHost, { owner, runs }: SocketRecord): Promise<void> {
  // Errors are ignored: a run that has ended or was deleted needs no cancel.
  const bound = runs.filter(([, , isBound]) => isBound)
  await Promise.all(bound.map(([, runId]) => host.cancel(runId, owner).catch(() => {})))
}

function put(tx: Transaction, pid: string, record: SocketRecord, expiresAt: number): void {
  tx.put(SOCKETS, { id: pid, partition: '', at: tx.now, tags: {}, value: record, expiresAt })
}
