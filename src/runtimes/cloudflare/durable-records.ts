import type { SocketRecords } from '../../gateway/records.ts'
import { findBindings } from './bindings.ts'

/** Keeps the record of each socket in an object of its own, which looks after its end by alarm. */
export function createDurableRecords(maxMs: number | undefined): SocketRecords | undefined {
  if (maxMs === undefined) return undefined
  const recordOf = (pid: string) => findBindings().index.getByName(`socket:${pid}`)
  return {
    begin: (pid, socket, run, open) => recordOf(pid).socketBegin(pid, socket, run, open),
    take: (pid, owner) => recordOf(pid).socketTake(pid, owner),
    away: (pid, generation) => recordOf(pid).socketExpire(pid, generation, maxMs),
    drop: (pid, generation) => recordOf(pid).socketExpire(pid, generation, 0),
  }
}
