/**
 * The user's waiting requests, while the page is open. Requests of the user's own runs arrive as a stream while the page is
 * visible. Those of others, and all while the page is hidden, are polled, since browsers allow few connections to a host.
 *
 * @module
 */

import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { InboxEvent } from '../../src/features/approvals/watch.ts'
import { client, config } from '../service.ts'
import { visible } from '../text.ts'
import { AGAIN_MS, pause } from '../waiting.ts'
import { type Inbox, inboxAfter } from './inbox.ts'

/** Whose runs: the user's own, or those of others that the user may decide. */
const WHOSE = ['mine', 'others'] as const
type Whose = (typeof WHOSE)[number]

/** Milliseconds between two polls of others' requests. A second stream would take one more of the few connections. */
const LOOK_MS = 5000
/** The same in a hidden page. */
const HIDDEN_MS = 15_000

/** Waiting requests, by whose they are. Undefined until they are loaded. */
export const inboxes = signal<Readonly<Partial<Record<Whose, Inbox>>>>({})

/** Why they could not be loaded. */
export const inboxError = signal<unknown>(undefined)

/** The number of waiting requests. */
export const waitingCount = computed(() => {
  const { mine, others } = inboxes.value
  return (mine?.size ?? 0) + (others?.size ?? 0)
})

/** The text for screen readers. */
export const announcement = signal('')

/** Requests that were announced to the user. */
const announced = new Set<string>()

/** Whether the service lists waiting requests for this user. */
export const hasInbox = computed(
  () => config.value.plugins.includes('approvals') && config.value.identity !== null,
)

/** Watches while the component is mounted. */
export function useInboxes(): void {
  const isOn = hasInbox.value
  useEffect(() => {
    if (!isOn) return
    const controller = new AbortController()
    for (const whose of WHOSE) void watch(whose, controller.signal)
    return () => controller.abort()
  }, [isOn])
}

/** Loads the requests again, for example after one has changed. */
export async function lookAgain(): Promise<void> {
  await Promise.all(WHOSE.map(whose => look(whose)))
}

async function watch(whose: Whose, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      if (whose === 'mine' && !document.hidden) await stream(whose, signal)
      else await look(whose, signal)
      inboxError.value = undefined
    } catch (error) {
      if (!signal.aborted) inboxError.value = error
    }
    if (document.hidden) await pause(HIDDEN_MS, signal)
    else if (inboxError.value !== undefined) await pause(AGAIN_MS, signal)
    else if (whose === 'others') await pause(LOOK_MS, signal)
  }
}

/** Streams until the page is hidden. */
async function stream(whose: Whose, signal: AbortSignal): Promise<void> {
  const hidden = new AbortController()
  const leave = () => hidden.abort()
  document.addEventListener('visibilitychange', leave)
  signal.addEventListener('abort', leave)
  try {
    for await (const event of client.approvals.watch({ whose }, { signal: hidden.signal })) take(whose, event)
  } catch (error) {
    if (!hidden.signal.aborted) throw error
  } finally {
    document.removeEventListener('visibilitychange', leave)
    signal.removeEventListener('abort', leave)
  }
}

async function look(whose: Whose, signal?: AbortSignal): Promise<void> {
  const { approvals, nextCursor } = await client.approvals.list({ whose, limit: 100 }, { signal })
  take(whose, { type: 'all', approvals, hasMore: nextCursor !== null })
}

function take(whose: Whose, event: InboxEvent): void {
  const before = inboxes.value[whose]
  const after = inboxAfter(before ?? new Map(), event)
  inboxes.value = { ...inboxes.value, [whose]: after }
  inboxError.value = undefined
  const fresh = [...after.values()].filter(({ request }) => !announced.has(request.id))
  for (const { request } of fresh) announced.add(request.id)
  const [first] = fresh
  if (before === undefined) return
  if (first === undefined) {
    // Cleared, so that the same text can be announced again.
    announcement.value = ''
    return
  }
  const { request, run } = first
  const more = fresh.length > 1 ? `, and ${fresh.length - 1} more` : ''
  announcement.value = visible(`New approval: ${run.name} wants ${request.toolName}${more}`)
}
