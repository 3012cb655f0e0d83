/**
 * Follows the newest page of a list of runs.
 *
 * @module
 */

import type { RunPage } from '../../runs/stored/host.ts'
import { decodeCursor } from '../../runs/stored/page.ts'
import type { RunSummary } from '../../runs/stored/record.ts'
import type { LiveList } from './live-list.ts'

/**
 * The events of the newest page: first the page, then its changes. A run that newer ones have pushed out of the page gets no
 * events; it is `added` again if it comes back.
 */
export type RunListEvent =
  | { readonly type: 'all'; readonly runs: readonly RunSummary[]; readonly hasMore: boolean }
  | { readonly type: 'added' | 'changed'; readonly run: RunSummary }
  | { readonly type: 'removed'; readonly id: string }

/** The remembered facts of a run: when it began, and the values that may change. */
type SeenRun = Readonly<Record<'at' | 'story', string>>

/** Compares each read of the page with the one before. */
export class LiveRuns implements LiveList<RunListEvent> {
  readonly #look: () => Promise<RunPage>
  /** The runs of the last page. */
  #seen: ReadonlyMap<string, SeenRun> = new Map()

  constructor(look: () => Promise<RunPage>) {
    this.#look = look
  }

  async first(): Promise<RunListEvent> {
    const { runs, nextCursor } = await this.#look()
    this.#seen = seenIn(runs)
    return { type: 'all', runs, hasMore: nextCursor !== null }
  }

  async changes(): Promise<readonly RunListEvent[]> {
    const { runs, nextCursor } = await this.#look()
    const [before, now] = [this.#seen, seenIn(runs)]
    this.#seen = now
    const isSame = ({ id }: RunSummary) => before.get(id)?.story === now.get(id)?.story
    // A run that is older than the page may still be in the list.
    const from = nextCursor === null ? Number.NEGATIVE_INFINITY : decodeCursor(nextCursor).at
    const removed = [...before].filter(([id, { at }]) => !now.has(id) && Date.parse(at) > from)
    return [
      ...removed.map(([id]) => ({ type: 'removed', id }) as const),
      // Oldest first, in the order in which they began.
      ...runs
        .filter(run => !isSame(run))
        .toReversed()
        .map(run => ({ type: before.has(run.id) ? 'changed' : 'added', run }) as const),
    ]
  }
}

function seenIn(runs: readonly RunSummary[]): ReadonlyMap<string, SeenRun> {
  return new Map(
    runs.map(({ id, createdAt: at, status, updatedAt, continuedBy = '', resumable = '', feedback = '' }) => {
      return [id, { at, story: `${status} ${updatedAt} ${continuedBy} ${resumable} ${feedback}` }]
    }),
  )
}
