import type { Transaction } from '../state/store.ts'

/** Which batches of an isolate have been added: one document an isolate, so that noting one is one row. */
interface Places {
  /** All up to here have been, or are not awaited any more. */
  readonly upTo: number
  /** Those beyond, in order. */
  readonly beyond: readonly number[]
}

const ISOLATES = 'metrics-isolate'

/** Milliseconds for which they are remembered after the last one: whoever sent one has given up long before. */
const REMEMBER_MS = 60 * 60 * 1000

/** Most batches beyond one that is missing: an isolate keeps no more of them to send again. */
const MAX_BEYOND = 1000

/** Notes the batch of a place among those of its isolate, from 1. False where it was noted before: it has been sent again. */
export function noteBatch(tx: Transaction, isolate: string, place: number): boolean {
  const { upTo, beyond } = tx.get<Places>(ISOLATES, isolate)?.value ?? { upTo: 0, beyond: [] }
  if (place <= upTo || beyond.includes(place)) return false
  const now = tx.now
  for (const { id } of tx.expired(ISOLATES, now, 100)) tx.delete(ISOLATES, id)
  const value = withPlace(upTo, [...beyond, place])
  // Always of the same moment: what is not listed by time need not be sorted by it.
  tx.put(ISOLATES, { id: isolate, partition: '', at: 0, tags: {}, value, expiresAt: now + REMEMBER_MS })
  return true
}

function withPlace(from: number, places: number[]): Places {
  const beyond = places.sort((one, other) => one - other)
  let upTo = beyond.length > MAX_BEYOND ? (beyond[0] ?? from) : from
  while (beyond[0] !== undefined && beyond[0] <= upTo + 1) upTo = Math.max(upTo, beyond.shift() ?? upTo)
  return { upTo, beyond }
}
