import { createSchedule } from '../../../base/wake.ts'
import type { RunHost } from '../../../runs/stored/host.ts'
import type { Store, Transaction } from '../../../stores/store.ts'
import {
  addRun,
  cancelRuns,
  expireRecord,
  SOCKETS,
  type SocketRecords,
  takeExpired,
  takeRecord,
} from './records.ts'

/** What local records need. */
export interface LocalRecordsOptions {
  readonly store: Store
  readonly host: RunHost
  /** Milliseconds that a client may be away. */
  readonly maxMs: number
  /** Most milliseconds of a run. */
  readonly timeoutMs: number
  /** Is called when the timer cannot read the store. It tries again later. */
  readonly onError: (error: unknown) => void
}

/** Milliseconds until the next try when the store could not be read. */
const RETRY_MS = 1000

/** Stores records in the store of this process. One timer ends the records of clients that do not reconnect. */
export function createLocalRecords({
  store,
  host,
  maxMs,
  timeoutMs,
  onError,
}: LocalRecordsOptions): SocketRecords {
  /** Times are those of the store, because the clock of this process may differ. */
  const latest = (tx: Transaction) => tx.now + timeoutMs + maxMs
  const watch = createSchedule(() => void sweep())
  const sweep = async () => {
    try {
      await lookAfter()
    } catch (error) {
      onError(error)
      watch(Date.now() + RETRY_MS)
    }
  }
  const lookAfter = async () => {
    const { expired, inMs } = await store.write(tx => {
      const expired = takeExpired(tx, tx.now)
      const soonest = tx.expired(SOCKETS, Number.MAX_SAFE_INTEGER, 1)[0]?.expiresAt
      return { expired, inMs: soonest && soonest - tx.now }
    })
    for (const record of expired) void cancelRuns(host, record)
    if (inMs !== undefined) watch(Date.now() + inMs + 1)
  }

  return {
    begin: async (pid, socket, run, open) =>
      store.write(tx => addRun(tx, pid, socket, run, { open, expiresAt: latest(tx) })),
    take: async (pid, owner) => store.write(tx => takeRecord(tx, pid, owner, latest(tx))),
    async away(pid, generation) {
      const isOurs = await store.write(tx => expireRecord(tx, pid, generation, tx.now + maxMs))
      if (isOurs) watch(Date.now() + maxMs + 1)
    },
    async drop(pid, generation) {
      await store.write(tx => expireRecord(tx, pid, generation, 0))
      await sweep()
    },
  }
}
