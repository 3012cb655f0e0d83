import { ServableError } from '../../base/errors.ts'
import { tenantOf } from '../../base/owner.ts'
import type { Counted, Document, Filter, Position, Reader } from '../../stores/store.ts'
import { comparePositions } from '../../stores/timeline.ts'

/** The position of a document in a list. */
type Cursor = Pick<Document, 'at' | 'id'>

/** Encodes a cursor for clients: opaque, and safe in a URL. */
export function encodeCursor({ at, id }: Cursor): string {
  return btoa(`${at} ${id}`).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Decodes a cursor. Throws `invalid_query` for one that this service did not make. */
export function decodeCursor(text: string): Cursor {
  try {
    const [, at, id] = /^(\d{1,16}(?:\.\d{1,6})?) ([\w-]{1,64})$/.exec(
      atob(text.replaceAll('-', '+').replaceAll('_', '/')),
    )!
    return { at: Number(at), id: id! }
  } catch (cause) {
    throw new ServableError('invalid_query', '`cursor` must be the `nextCursor` of the previous page', {
      cause,
    })
  }
}

/** A page of values, and the cursor of the next one. */
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
  /** Leaves out documents that have expired, and are not deleted yet. */
  readonly isLive?: boolean | undefined
}

/** The most documents that one request reads. */
export const MAX_LOOKS = 1000

/**
 * A page of a partition, newest first. It may be short or empty although it is not the last one. Throws `invalid_query` for an
 * invalid cursor.
 */
export function readPage<T>(
  tx: Reader,
  collection: string,
  filter: Omit<Filter, 'looks' | 'after'>,
  { cursor, limit, until, isLive = false }: PageQuery,
): Page<T> {
  const positions = cursor === undefined ? [] : [decodeCursor(cursor)]
  // An empty id comes before all others, so documents of that very time are left out.
  if (until !== undefined) positions.push({ at: until, id: '' })
  const [after] = positions.sort(comparePositions)
  const { documents, next } = tx.search<T>(collection, { ...filter, after, limit, looks: MAX_LOOKS })
  const live = documents.filter(({ expiresAt = Number.POSITIVE_INFINITY }) => !isLive || expiresAt > tx.now)
  return { values: live.map(({ value }) => value), next: next && encodeCursor(next) }
}

/** Counts the documents of all pages. */
export function countPages(
  tx: Reader,
  collection: string,
  filter: Omit<Filter, 'looks' | 'after'>,
  until: number | undefined,
): Counted {
  const after = until === undefined ? undefined : { at: until, id: '' }
  return tx.countMatching(collection, { ...filter, after, looks: MAX_LOOKS })
}

/** Pages of documents that one look for owners reads. */
const MAX_PAGES = 100

/** Some of the owners of a tenant: those of the first page of documents that has any. `ownerOf` names the owner of a document. */
export function ownersIn<T>(
  tx: Reader,
  collection: string,
  tenant: string,
  ownerOf: (document: Document<T>) => string | null,
): string[] {
  let after: Position | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const { documents, next } = tx.search<T>(collection, { after, limit: MAX_LOOKS, looks: MAX_LOOKS })
    const owners = documents.map(ownerOf).filter(owner => owner !== null && tenantOf(owner) === tenant)
    if (owners.length > 0 || next === undefined) return [...new Set(owners as string[])]
    after = next
  }
  return []
}
