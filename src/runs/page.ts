import type { Filter, Reader } from '../state/store.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'

/** A page of values, and where the next one begins. */
export interface Page<T> {
  readonly values: readonly T[]
  /** Undefined at the end. */
  readonly next: string | undefined
}

/** A page of a partition, newest first. Throws `invalid_query` for a cursor that is none. */
export function readPage<T>(
  tx: Reader,
  collection: string,
  filter: Filter,
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
): Page<T> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor)
  // One more than asked for tells whether there is another page.
  const found = tx.list<T>(collection, { ...filter, after, limit: limit + 1 })
  const page = found.slice(0, limit)
  const last = page.at(-1)
  const hasMore = found.length > limit && last !== undefined
  return { values: page.map(({ value }) => value), next: hasMore ? encodeCursor(last) : undefined }
}
