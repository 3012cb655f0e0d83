/**
 * Which index objects list whose runs: one an owner, and one or several that share the runs of clients without an identity.
 *
 * @module
 */

import { encodeCursor } from '../../runs/cursor.ts'
import type { RunPage, Viewer } from '../../runs/host.ts'
import { partitionOf, type RunSummary } from '../../runs/record.ts'

/** An index object that lists a run. */
export interface ListedBy {
  readonly name: string
  /** How many share what may be at work of its kind. */
  readonly shares: number
}

/** The index objects of a deployment. */
export class Indexes {
  /** How many share the runs of clients without an identity. */
  readonly #count: number

  constructor(count: number) {
    this.#count = count
  }

  /** The one that lists a run. A client is always with the same one, which counts its runs. */
  of(owner: Viewer, client: string): ListedBy {
    if (owner !== null) return { name: partitionOf(owner), shares: 1 }
    return { name: nameOf(hash(client) % this.#count), shares: this.#count }
  }

  /** Names of all that list runs of an owner. */
  namesOf(owner: Viewer): string[] {
    return owner === null ? Array.from({ length: this.#count }, (_, at) => nameOf(at)) : [partitionOf(owner)]
  }
}

function nameOf(at: number): string {
  return at === 0 ? partitionOf(null) : `${partitionOf(null)}:${at}`
}

/** FNV-1a, of 32 bits. */
function hash(text: string): number {
  let sum = 0x811c9dc5
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  return sum >>> 0
}

/** A page of what several list, newest first, each run with the one that lists it. */
export function joinPages<Index>(
  pages: readonly (readonly [index: Index, page: RunPage])[],
  limit: number,
): { runs: (readonly [run: RunSummary, index: Index])[]; nextCursor: string | null } {
  const all = pages.flatMap(([index, { runs }]) => runs.map(run => [run, index] as const))
  // A list that is one is in order as it is.
  if (pages.length > 1) all.sort(([one], [other]) => compare(other, one))
  const runs = all.slice(0, limit)
  const [only] = pages
  if (pages.length === 1) return { runs, nextCursor: only?.[1].nextCursor ?? null }
  const hasMore = all.length > limit || pages.some(([, { nextCursor }]) => nextCursor !== null)
  const last = runs.at(-1)?.[0]
  const next = hasMore && last !== undefined
  return { runs, nextCursor: next ? encodeCursor({ at: Date.parse(last.createdAt), id: last.id }) : null }
}

function compare(one: RunSummary, other: RunSummary): number {
  const later = Date.parse(one.createdAt) - Date.parse(other.createdAt)
  if (later !== 0) return later
  return one.id < other.id ? -1 : 1
}
