/**
 * What waits for the user, while the page is open. `../live.ts` reads it.
 *
 * @module
 */

import { computed, signal } from '@preact/signals'
import type { InboxEvent } from '../../src/features/approvals/watch.ts'
import { client, config } from '../service.ts'
import { visible } from '../text.ts'
import { type Inbox, inboxAfter, wishOf } from './inbox.ts'

/** Whose runs: the user's own, or those of others that the user may decide. */
export const WHOSE = ['mine', 'others'] as const
export type Whose = (typeof WHOSE)[number]

/** Waiting requests, by whose they are. Undefined until they are loaded. */
export const inboxes = signal<Readonly<Partial<Record<Whose, Inbox>>>>({})

/** Whose inboxes have more than is loaded: the newest 100 runs of each kind are. */
const cut = signal<ReadonlySet<Whose>>(new Set())

/** Whether more waits than is loaded. */
export const hasMoreWaiting = computed(() => cut.value.size > 0)

/** Why they could not be loaded. */
export const inboxError = signal<unknown>(undefined)

/** All waiting requests. */
export const waitingRequests = computed(() => {
  const { mine, others } = inboxes.value
  return [...(mine?.values() ?? []), ...(others?.values() ?? [])]
})

/** The number of waiting requests. */
export const waitingCount = computed(() => waitingRequests.value.length)

/** The text for screen readers. */
export const announcement = signal('')

/** Requests that were announced to the user. */
const announced = new Set<string>()

/** Whether the service lists waiting requests for this user. */
export const hasInbox = computed(
  () => config.value.plugins.includes('approvals') && config.value.identity !== null,
)

/** Reads the approvals that wait, and the user's own questions: nobody else answers these. */
export async function readInbox(whose: Whose, signal?: AbortSignal): Promise<InboxEvent> {
  const kinds = whose === 'mine' ? (['approval', 'question'] as const) : (['approval'] as const)
  const pages = await Promise.all(
    kinds.map(kind => client.approvals.list({ whose, kind, limit: 100 }, { signal })),
  )
  const found = pages.flatMap(({ approvals }) => approvals)
  return {
    type: 'all',
    approvals: found.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt)),
    hasMore: pages.some(({ nextCursor }) => nextCursor !== null),
  }
}

/** All requests that are known, as an event. Undefined until they are loaded. */
export function wholeInbox(whose: Whose): InboxEvent | undefined {
  const inbox = inboxes.value[whose]
  return inbox && { type: 'all', approvals: [...inbox.values()], hasMore: cut.value.has(whose) }
}

/** Shows an event of the inbox, and announces what is new. */
export function takeInbox(whose: Whose, event: InboxEvent): void {
  const before = inboxes.value[whose]
  const after = inboxAfter(before ?? new Map(), event)
  inboxes.value = { ...inboxes.value, [whose]: after }
  inboxError.value = undefined
  if (event.type === 'all') {
    const others = [...cut.value].filter(each => each !== whose)
    cut.value = new Set(event.hasMore ? [...others, whose] : others)
  }
  const fresh = [...after.values()].filter(({ request }) => !announced.has(request.id))
  for (const { request } of fresh) announced.add(request.id)
  const [first] = fresh
  if (before === undefined) return
  if (first === undefined) {
    // Cleared, so that the same text can be announced again.
    announcement.value = ''
    return
  }
  const what = first.request.kind === 'question' ? 'question' : 'approval'
  const more = fresh.length > 1 ? `, and ${fresh.length - 1} more` : ''
  announcement.value = visible(`New ${what}: ${wishOf(first)}${more}`)
}
