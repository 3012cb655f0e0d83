import type { Reader, StoredLogEntry } from './store.ts'

/** Entries to read at once. */
const BATCH = 256

/** Yields all entries of a log after a position, in order. It holds at most one batch in memory. */
export function* readLog(tx: Reader, log: string, after = 0): Generator<StoredLogEntry> {
  let last = after
  for (let page = tx.read(log, last, BATCH); page.length > 0; page = tx.read(log, last, BATCH)) {
    for (const entry of page) {
      last = entry.seq
      yield entry
    }
  }
}
