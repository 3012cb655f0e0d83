import type { Filter, Reader } from '../../stores/store.ts'
import { comparePlaces } from '../../stores/timeline.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'

/** A page of values, and where the next one begins. */
export interface Page<T> {
  readonly values: readonly T[]
  /** Undefined at the end. */
  readonly next: string | undefined
}

/** Which page to read. */
interface PageQuery {
  readonly cursor?: string | undefined
  readonly limit: number
  /** Only documents before this time, in milliseconds since 1970. */
  readonly until?: number | undefined
}

/** Documents that one request looks at, whatever it asks for. */
export const MAX_LOOKS = 1000

/**
 * A page of a partition, newest first. It may be short, or empty, and yet not the last one. Throws `invalid_query` for a
 * cursor that is none.
 */
export function readPage<T>(
  tx: Reader,
  collection: string,
  filter: Omit<Filter, 'looks'>,
  { cursor, limit, until }: PageQuery,
): Page<T> {
  const places = cursor === undefined ? [] : [decodeCursor(cursor)]
  // Nothing of that time itself comes after an id that is empty.
  if (until !== undefined) places.push({ at: until, id: '' })
  const [after] = places.sort(comparePlaces)
  const { documents, next } = tx.search<T>(collection, { ...filter, after, limit, looks: MAX_LOOKS })
  return { values: documents.map(({ value }) => value), next: next && encodeCursor(next) }
}
