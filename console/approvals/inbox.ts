/** A live view of the requests that wait for a person. */
import type { WaitingRequest } from '../../src/features/approvals/inbox.ts'
import type { InboxEvent } from '../../src/features/approvals/watch.ts'

/** Waiting requests by their ids. */
export type Inbox = ReadonlyMap<string, WaitingRequest>

/** The inbox after an event. */
export function inboxAfter(before: Inbox, event: InboxEvent): Inbox {
  if (event.type === 'all') return new Map(event.approvals.map(each => [each.request.id, each]))
  const after = new Map(before)
  if (event.type === 'added') after.set(event.approval.request.id, event.approval)
  else after.delete(event.id)
  return after
}

/** All requests that were shown, in their old order, followed by new ones, so that nothing moves under the pointer. */
export function inStableOrder(
  shown: readonly WaitingRequest[],
  inboxes: readonly Inbox[],
): readonly WaitingRequest[] {
  const now = new Map(inboxes.flatMap(inbox => [...inbox]))
  const old = new Set(shown.map(({ request }) => request.id))
  const fresh = [...now.values()].filter(({ request }) => !old.has(request.id))
  return [...shown.map(each => now.get(each.request.id) ?? each), ...fresh]
}
