/** What waits for a person, as it changes. */
import type { Waiting } from '../../src/features/approvals/inbox.ts'
import type { InboxEvent } from '../../src/features/approvals/watch.ts'

/** What waits, by the id of the request. */
export type Inbox = ReadonlyMap<string, Waiting>

/** The inbox after an event. */
export function inboxAfter(before: Inbox, event: InboxEvent): Inbox {
  if (event.type === 'all') return new Map(event.approvals.map(each => [each.request.id, each]))
  const after = new Map(before)
  if (event.type === 'added') after.set(event.approval.request.id, event.approval)
  else after.delete(event.id)
  return after
}

/** All that was shown, in its place, and then what is new: so nothing moves under the pointer. */
export function placed(shown: readonly Waiting[], inboxes: readonly Inbox[]): readonly Waiting[] {
  const now = new Map(inboxes.flatMap(inbox => [...inbox]))
  const old = new Set(shown.map(({ request }) => request.id))
  const fresh = [...now.values()].filter(({ request }) => !old.has(request.id))
  return [...shown.map(each => now.get(each.request.id) ?? each), ...fresh]
}
