import type { Reach } from '../../../core/hosted.ts'
import { objectCalls } from '../../../core/transaction-calls.ts'
import { RECORD_SERVICE, RECORDS } from './object.ts'
import type { SocketRecords } from './records.ts'

/** What remote records need. */
export interface RemoteRecordsOptions {
  /** Milliseconds that a client may be away. */
  readonly maxMs: number
  /** Most milliseconds of a run. */
  readonly timeoutMs: number
}

/** Stores the record of each socket in an object of its own. The object's alarm ends the record. */
export function createRemoteRecords(
  { reach }: { readonly reach: Reach },
  { maxMs, timeoutMs }: RemoteRecordsOptions,
): SocketRecords {
  const calls = objectCalls((address, service) => reach('index', address, service), RECORD_SERVICE, RECORDS)
  const addressOf = (pid: string) => `socket:${pid}`
  // The runs have ended by then, and no client can reconnect to them.
  const livesMs = timeoutMs + maxMs
  return {
    begin: (pid, socket, run, open) => calls.begin(addressOf(pid), pid, socket, run, { open, livesMs }),
    take: (pid, owner) => calls.take(addressOf(pid), pid, owner, livesMs),
    away: (pid, generation) => calls.expire(addressOf(pid), pid, generation, maxMs),
    drop: (pid, generation) => calls.expire(addressOf(pid), pid, generation, 0),
  }
}
