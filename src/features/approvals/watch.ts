/**
 * A live view of the inbox.
 *
 * @module
 */

import type { LiveList } from '../../http/runs/live-list.ts'
import type { WaitingRequest } from './inbox.ts'

/** Most runs and tasks whose requests a watcher gets: the newest. */
export const MAX_WATCHED = 100

/** Most requests that a watcher remembers. If an older one reappears, the watcher gets it again. */
const MAX_SEEN = 1000

/** The events of a watcher: first all open requests, then added and removed ones. */
export type InboxEvent =
  | { readonly type: 'all'; readonly approvals: readonly WaitingRequest[]; readonly hasMore: boolean }
  | { readonly type: 'added'; readonly approval: WaitingRequest }
  | { readonly type: 'removed'; readonly id: string }

/** The inbox at one time. */
export interface InboxSnapshot {
  readonly approvals: readonly WaitingRequest[]
  /** Whether there are older requests. */
  readonly hasMore: boolean
}

/** The changes between two snapshots. A request too old for the snapshot does not count as removed. */
export function changesOf(
  before: ReadonlyMap<string, WaitingRequest>,
  { approvals, hasMore }: InboxSnapshot,
): InboxEvent[] {
  const now = new Map(approvals.map(each => [each.request.id, each]))
  const oldest = hasMore ? (approvals.at(-1)?.createdAt ?? '') : ''
  const removed = [...before].filter(([id, { createdAt }]) => !now.has(id) && createdAt >= oldest)
  const added = approvals.filter(({ request }) => !before.has(request.id))
  return [
    ...removed.map(([id]) => ({ type: 'removed', id }) as const),
    // The oldest first, in the order of their arrival.
    ...added.toReversed().map(approval => ({ type: 'added', approval }) as const),
  ]
}

/** Compares each snapshot with the last one. */
export class LiveInbox implements LiveList<InboxEvent> {
  readonly #look: () => Promise<InboxSnapshot>
  /** The oldest first. */
  #seen = new Map<string, WaitingRequest>()

  constructor(look: () => Promise<InboxSnapshot>) {
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

function note(change: InboxEvent, seen: Map<string, WaitingRequest>): void {
  if (change.type === 'added') seen.set(change.approval.request.id, change.approval)
  if (change.type === 'removed') seen.delete(change.id)
}
