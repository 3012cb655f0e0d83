/**
 * The inbox as it changes. Any process, or any object, may change it, so it is read again and again.
 *
 * @module
 */

import { type PulledSource, sseMessage } from '../web/sse.ts'
import type { Waiting } from './inbox.ts'

/** Milliseconds between two looks. */
export const LOOK_EVERY_MS = 2000

/** Most runs and tasks whose requests a watcher is told of: the newest. */
export const MAX_WATCHED = 100

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

/**
 * The events as SSE, numbered from 1. A stream always begins with all that waits, so whoever connects again has missed nothing. It ends
 * where the inbox cannot be read: `tell` hears why.
 */
export function sseOfInbox(look: () => Promise<Look>, tell: (error: unknown) => void): PulledSource {
  const watcher = new InboxWatcher(look)
  let id = 0
  return {
    cancel: () => watcher.leave(),
    async next() {
      try {
        const events = await watcher.next()
        return events?.map(event => sseMessage(++id, JSON.stringify(event))).join('')
      } catch (error) {
        tell(error)
        return undefined
      }
    },
  }
}

/** Looks at the inbox for as long as it is read. */
class InboxWatcher {
  readonly #look: () => Promise<Look>
  #seen: Map<string, Waiting> | undefined
  #hasLeft = false
  #wake = () => {}

  constructor(look: () => Promise<Look>) {
    this.#look = look
  }

  /** What has changed since the last call, at the first all that waits. Undefined once the watcher has left. */
  async next(): Promise<readonly InboxEvent[] | undefined> {
    if (this.#seen === undefined) return [await this.#first()]
    while (!this.#hasLeft) {
      await this.#pause()
      const changes = this.#hasLeft ? [] : changesOf(this.#seen, await this.#look())
      for (const change of changes) note(change, this.#seen)
      if (changes.length > 0) return changes
    }
    return undefined
  }

  leave(): void {
    this.#hasLeft = true
    this.#wake()
  }

  async #first(): Promise<InboxEvent> {
    const { approvals, hasMore } = await this.#look()
    this.#seen = new Map(approvals.map(each => [each.request.id, each]))
    return { type: 'all', approvals, hasMore }
  }

  #pause(): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, LOOK_EVERY_MS)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

function note(change: InboxEvent, seen: Map<string, Waiting>): void {
  if (change.type === 'added') seen.set(change.approval.request.id, change.approval)
  if (change.type === 'removed') seen.delete(change.id)
}
