/**
 * The newest page of a list of runs, as it changes.
 *
 * @module
 */

import { decodeCursor } from '../../runs/stored/cursor.ts'
import type { RunPage } from '../../runs/stored/host.ts'
import type { RunSummary } from '../../runs/stored/record.ts'
import type { LiveList } from './live-list.ts'

/**
 * What a watcher is told: first the newest page, then what changes in it. Nothing is told of a run once newer ones have pushed it out of
 * the page; it is `added` again if it comes back.
 */
export type RunListEvent =
  | { readonly type: 'all'; readonly runs: readonly RunSummary[]; readonly hasMore: boolean }
  | { readonly type: 'added' | 'changed'; readonly run: RunSummary }
  | { readonly type: 'removed'; readonly id: string }

/** What is remembered of a run that was told: when it began, and what may change. */
type Seen = Readonly<Record<'at' | 'story', string>>

/** Compares one look with the next. */
export class LiveRuns implements LiveList<RunListEvent> {
  readonly #look: () => Promise<RunPage>
  /** As many runs as a page has. */
  #seen: ReadonlyMap<string, Seen> = new Map()

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
    // What is older than the page may still be in the list.
    const from = nextCursor === null ? Number.NEGATIVE_INFINITY : decodeCursor(nextCursor).at
    const removed = [...before].filter(([id, { at }]) => !now.has(id) && Date.parse(at) > from)
    return [
      ...removed.map(([id]) => ({ type: 'removed', id }) as const),
      // The oldest first, as they came.
      ...runs
        .filter(run => !isSame(run))
        .toReversed()
        .map(run => ({ type: before.has(run.id) ? 'changed' : 'added', run }) as const),
    ]
  }
}

function seenIn(runs: readonly RunSummary[]): ReadonlyMap<string, Seen> {
  return new Map(
    runs.map(({ id, createdAt: at, status, updatedAt, continuedBy = '', resumable = '' }) => {
      return [id, { at, story: `${status} ${updatedAt} ${continuedBy} ${resumable}` }]
    }),
  )
}
