import type { Reach } from '../core/hosted.ts'
import { callsAt } from '../core/kept.ts'
import { RECORD_KEEPER, RECORDS } from './keepers.ts'
import type { SocketRecords } from './records.ts'

/** What the records of sockets in objects need. */
export interface RemoteRecordsOptions {
  /** Milliseconds for which a client may be away. */
  readonly maxMs: number
  /** Milliseconds for which a run may take. */
  readonly timeoutMs: number
}

/** Keeps the record of each socket in an object of its own, which looks after its end by alarm. */
export function createRemoteRecords(
  { reach }: { readonly reach: Reach },
  { maxMs, timeoutMs }: RemoteRecordsOptions,
): SocketRecords {
  const calls = callsAt((place, keeper) => reach('index', place, keeper), RECORD_KEEPER, RECORDS)
  const placeOf = (pid: string) => `socket:${pid}`
  // Its runs have ended by then, and nobody can come back to them.
  const livesMs = timeoutMs + maxMs
  return {
    begin: (pid, socket, run, open) => calls.begin(placeOf(pid), pid, socket, run, { open, livesMs }),
    take: (pid, owner) => calls.take(placeOf(pid), pid, owner, livesMs),
    away: (pid, generation) => calls.expire(placeOf(pid), pid, generation, maxMs),
    drop: (pid, generation) => calls.expire(placeOf(pid), pid, generation, 0),
  }
}
