/**
 * The inbox as it changes.
 *
 * @module
 */

import type { LiveList } from '../../http/runs/live-list.ts'
import type { Waiting } from './inbox.ts'

/** Most runs and tasks whose requests a watcher is told of: the newest. */
export const MAX_WATCHED = 100

/** Most requests that a watcher remembers. It is told again of an older one that comes back. */
const MAX_SEEN = 1000

/** What a watcher is told: first all that waits, then what comes and what goes. */
export type InboxEvent =
  | { readonly type: 'all'; readonly approvals: readonly Waiting[]; readonly hasMore: boolean }
  | { readonly type: 'added'; readonly approval: Waiting }
  | { readonly type: 'removed'; readonly id: string }

/** A look at the inbox. */
export interface Look {
  readonly approvals: readonly Waiting[]
  /** There are older ones. */
  readonly hasMore: boolean
}

/** What has changed between two looks. What is too old to be seen has not left. */
export function changesOf(before: ReadonlyMap<string, Waiting>, { approvals, hasMore }: Look): InboxEvent[] {
  const now = new Map(approvals.map(each => [each.request.id, each]))
  const oldest = hasMore ? (approvals.at(-1)?.createdAt ?? '') : ''
  const removed = [...before].filter(([id, { createdAt }]) => !now.has(id) && createdAt >= oldest)
  const added = approvals.filter(({ request }) => !before.has(request.id))
  return [
    ...removed.map(([id]) => ({ type: 'removed', id }) as const),
    // The oldest first, as they came.
    ...added.toReversed().map(approval => ({ type: 'added', approval }) as const),
  ]
}

/** Compares one look with the next. */
export class LiveInbox implements LiveList<InboxEvent> {
  readonly #look: () => Promise<Look>
  /** The oldest first. */
  #seen = new Map<string, Waiting>()

  constructor(look: () => Promise<Look>) {
    this.#look = look
  }

  async first(): Promise<InboxEvent> {
    const { approvals, hasMore } = await this.#look()
    this.#seen = new Map(approvals.toReversed().map(each => [each.request.id, each]))
    return { type: 'all', approvals, hasMore }
  }

  async changes(): Promise<readonly InboxEvent[]> {
    const changes = changesOf(this.#seen, await this.#look())
    for (const change of changes) note(change, this.#seen)
    for (const id of this.#seen.keys()) {
      if (this.#seen.size <= MAX_SEEN) break
      this.#seen.delete(id)
    }
    return changes
  }
}

function note(change: InboxEvent, seen: Map<string, Waiting>): void {
  if (change.type === 'added') seen.set(change.approval.request.id, change.approval)
  if (change.type === 'removed') seen.delete(change.id)
}
