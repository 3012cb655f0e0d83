import type { Transaction } from '../../stores/store.ts'

/**
 * The numbers of an isolate's or process's batches that were added. There is one document for each isolate, so that a batch needs
 * one write.
 */
interface BatchNumbers {
  /** All batches up to this number have been added or are no longer expected. */
  readonly upTo: number
  /** Added batches after that number, in order. */
  readonly beyond: readonly number[]
}

const ISOLATES = 'metrics-isolate'

/** Milliseconds for which the document is kept after the last batch. The sender of a batch has given up long before. */
const REMEMBER_MS = 60 * 60 * 1000

/** Most added batches after a missing one. An isolate keeps no more unsent batches than that. */
const MAX_BEYOND = 1000

/** Records that a batch is added. Numbers begin with 1. Returns false if the batch was added before and is sent again. */
export function noteBatch(tx: Transaction, isolate: string, number: number): boolean {
  const { upTo, beyond } = tx.get<BatchNumbers>(ISOLATES, isolate)?.value ?? { upTo: 0, beyond: [] }
  if (number <= upTo || beyond.includes(number)) return false
  const now = tx.now
  for (const { id } of tx.expired(ISOLATES, now, 100)) tx.delete(ISOLATES, id)
  const value = withNumber(upTo, [...beyond, number])
  // All documents have the same time, because they are never listed by time.
  tx.put(ISOLATES, { id: isolate, partition: '', at: 0, tags: {}, value, expiresAt: now + REMEMBER_MS })
  return true
}

function withNumber(from: number, numbers: number[]): BatchNumbers {
  const beyond = numbers.sort((one, other) => one - other)
  let upTo = beyond.length > MAX_BEYOND ? (beyond[0] ?? from) : from
  while (beyond[0] !== undefined && beyond[0] <= upTo + 1) upTo = Math.max(upTo, beyond.shift() ?? upTo)
  return { upTo, beyond }
}
