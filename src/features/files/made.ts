/**
 * Lists the files that runs of an owner made.
 *
 * @module
 */

import type { MadeFile } from '../../runs/files.ts'
import type { Position, Reader } from '../../stores/store.ts'
import { madeAt } from './address.ts'
import { FILES, REFERENCES, type Reference, referrerOf, type StoredFile } from './documents.ts'

/** Files of a page. */
const PAGE = 100

/** References of a file that are looked at to find a run that made it. */
const MAX_REFERENCES = 10

/** A page of files, and after which the next one begins. */
export interface MadePage {
  readonly files: readonly MadeFile[]
  readonly next?: Position | undefined
}

/** A page of the complete files of an owner that a run made, newest first. A file of several runs is in it once. */
export function made(tx: Reader, owner: string, after?: Position): MadePage {
  const page = tx.list<StoredFile>(FILES, { partition: owner, after, limit: PAGE })
  const files = page.flatMap(({ id, value: { isComplete, size } }) => {
    const references = isComplete ? tx.oldest<Reference>(REFERENCES, MAX_REFERENCES, id) : []
    const found = references.find(({ id: at, value: { session } }) => !session && madeAt(placeIn(at)))
    if (found === undefined) return []
    const { filename, mimeType } = found.value
    return [{ runId: referrerOf(found.id), place: placeIn(found.id), filename, mimeType, size }]
  })
  const last = page.at(-1)
  return { files, ...(last && page.length === PAGE && { next: { at: last.at, id: last.id } }) }
}

/** The key of the part in the id of a reference of a run. */
function placeIn(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1)
}
