/**
 * Which index object lists which runs. Each owner has one. One or several share the runs of clients without an identity.
 *
 * @module
 */

import type { ListedRun, RunPage, Viewer } from '../../runs/stored/host.ts'
import { decodeCursor, encodeCursor } from '../../runs/stored/page.ts'
import { partitionOf, type RunSummary } from '../../runs/stored/record.ts'
import type { Position } from '../../stores/store.ts'
import { comparePositions } from '../../stores/timeline.ts'

/** An index object that lists a run. */
export interface ListedBy {
  readonly name: string
  /** The number of objects that share the limit of running runs. */
  readonly shares: number
}

/** The index objects of a deployment. */
export class Indexes {
  /** The number of objects that share the runs of clients without an identity. */
  readonly #count: number

  constructor(count: number) {
    this.#count = count
  }

  /** The index object that lists a run. A client always has the same one, which counts its runs. */
  of(owner: Viewer, client: string): ListedBy {
    if (owner !== null) return { name: partitionOf(owner), shares: 1 }
    return { name: nameOf(hash(client) % this.#count), shares: this.#count }
  }

  /** Names of all index objects that list runs of an owner. */
  namesOf(owner: Viewer): string[] {
    return owner === null ? Array.from({ length: this.#count }, (_, at) => nameOf(at)) : [partitionOf(owner)]
  }
}

function nameOf(at: number): string {
  return at === 0 ? partitionOf(null) : `${partitionOf(null)}:${at}`
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let sum = 0x811c9dc5
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  return sum >>> 0
}

/**
 * Joins the pages of several lists, newest first, each run with its index. Each page covers its list down to its own cursor. The
 * joined page ends at the newest of these cursors, so that it skips no run of another list.
 */
export function joinPages<Index>(
  pages: readonly (readonly [index: Index, page: RunPage])[],
  limit: number,
): Omit<RunPage, 'runs'> & { readonly runs: (readonly [run: ListedRun, index: Index])[] } {
  const all = pages.flatMap(([index, { runs }]) => runs.map(run => [run, index] as const))
  const [only] = pages
  // A single list is sorted already.
  if (only !== undefined && pages.length === 1) return { ...only[1], runs: all }
  const stops = pages.flatMap(([, { nextCursor }]) => (nextCursor === null ? [] : [decodeCursor(nextCursor)]))
  const stop = stops.toSorted(comparePositions).at(-1)
  const known = all.filter(([run]) => stop === undefined || comparePositions(positionOf(run), stop) >= 0)
  known.sort(([one], [other]) => comparePositions(positionOf(other), positionOf(one)))
  const runs = known.slice(0, limit)
  const last = runs.at(-1)
  const next = known.length > limit && last !== undefined ? positionOf(last[0]) : stop
  return { runs, nextCursor: next === undefined ? null : encodeCursor(next), ...countOf(pages) }
}

/** The counts of several lists as one. */
function countOf(pages: readonly (readonly [unknown, RunPage])[]): Pick<RunPage, 'count' | 'countIsCut'> {
  const counts = pages.flatMap(([, { count }]) => (count === undefined ? [] : [count]))
  if (counts.length === 0) return {}
  const isCut = pages.some(([, { countIsCut }]) => countIsCut)
  return { count: counts.reduce((sum, count) => sum + count), ...(isCut && { countIsCut: true }) }
}

/** The position of a run in the list of an index. Index objects use whole milliseconds. */
function positionOf({ id, createdAt }: RunSummary): Position {
  return { at: Date.parse(createdAt), id }
}
