import type { LogEntry, Reader } from './store.ts'

/** Entries that are read at once. */
const BATCH = 256

/** All entries of a log after a place, in order; holds no more than a batch of them. */
export function* readLog(tx: Reader, log: string, after = 0): Generator<LogEntry> {
  let last = after
  for (let page = tx.read(log, last, BATCH); page.length > 0; page = tx.read(log, last, BATCH)) {
    for (const entry of page) {
      last = entry.seq
      yield entry
    }
  }
}
