import type { RunHost } from '../runs/host.ts'
import type { Store } from '../state/store.ts'
import { createSchedule } from '../wake.ts'
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

/** Keeps records in the store of this process. One timer ends the records of clients that stay away. */
export function createLocalRecords({
  store,
  host,
  maxMs,
  timeoutMs,
  onError,
}: LocalRecordsOptions): SocketRecords {
  const latest = () => Date.now() + timeoutMs + maxMs
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
    const { expired, soonest } = await store.write(tx => {
      const expired = takeExpired(tx, tx.now)
      return { expired, soonest: tx.expired(SOCKETS, Number.MAX_SAFE_INTEGER, 1)[0]?.expiresAt }
    })
    for (const record of expired) void cancelRuns(host, record)
    if (soonest !== undefined) watch(soonest + 1)
  }

  return {
    begin: async (pid, socket, run, open) =>
      store.write(tx => addRun(tx, pid, socket, run, { open, expiresAt: latest() })),
    take: async (pid, owner) => store.write(tx => takeRecord(tx, pid, owner, latest())),
    async away(pid, generation) {
      const until = Date.now() + maxMs
      if (await store.write(tx => expireRecord(tx, pid, generation, until))) watch(until + 1)
    },
    async drop(pid, generation) {
      await store.write(tx => expireRecord(tx, pid, generation, 0))
      await sweep()
    },
  }
}
