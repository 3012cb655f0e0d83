import { ServableError } from '../../base/errors.ts'
import type { Document } from '../../stores/store.ts'

/** The position of a document in a list. */
export type Cursor = Pick<Document, 'at' | 'id'>

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
