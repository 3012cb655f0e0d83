/**
 * What the rows of documents and logs hold.
 *
 * @module
 */

import type { Document, Position, StoredLogEntry } from '../store.ts'
import type { SqlRow } from './sql-driver.ts'

/** Most UTF-16 units of a chunk. At three bytes each, a chunk stays below 1 MiB. A row of a Durable Object may have 2 MB. */
export const MAX_CHUNK_UNITS = 340_000

/** Splits text into chunks that fit a row, never inside a surrogate pair. Returns at least one chunk. */
export function splitChunks(text: string, maxUnits: number = MAX_CHUNK_UNITS): string[] {
  const chunks: string[] = []
  let start = 0
  while (text.length - start > maxUnits) {
    const end = start + maxUnits - (isHighSurrogate(text.charCodeAt(start + maxUnits - 1)) ? 1 : 0)
    chunks.push(text.slice(start, end))
    start = end
  }
  chunks.push(text.slice(start))
  return chunks
}

/** Joins the adjacent chunks of each entry. */
export function joinChunks(rows: readonly StoredLogEntry[]): StoredLogEntry[] {
  const entries: { seq: number; data: string }[] = []
  for (const { seq, data } of rows) {
    const last = entries.at(-1)
    if (last?.seq === seq) last.data += data
    else entries.push({ seq, data })
  }
  return entries
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

/** The position of a row's document. */
export function positionOf(row: SqlRow | undefined): Position | undefined {
  return row && { at: Number(row.at), id: String(row.id) }
}

/** The document of a row. `text` is its value as JSON, with what other rows hold of it. */
export function documentOf<T>(row: SqlRow, text: string): Document<T> {
  return {
    id: String(row.id),
    partition: String(row.partition),
    at: Number(row.at),
    tags: JSON.parse(String(row.tags)),
    ...(row.expires !== null && { expiresAt: Number(row.expires) }),
    value: JSON.parse(text),
  }
}
