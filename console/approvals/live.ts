/**
 * What waits for the user, while the page is open. The user's own requests come as a stream while the page is seen. Those of others, and
 * all while the page is hidden, are looked at now and then, since browsers keep few connections to a host.
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

/** Whose requests: of the user's own runs, or of those of others that the user may decide. */
const WHOSE = ['mine', 'others'] as const
type Whose = (typeof WHOSE)[number]

/** Milliseconds between two looks at those of others. A stream each would take two of the few connections. */
const LOOK_MS = 5000
/** The same in a hidden page. */
const HIDDEN_MS = 15_000

/** What waits, of each kind. Undefined until it is known. */
export const inboxes = signal<Readonly<Partial<Record<Whose, Inbox>>>>({})

/** Why it is not known. */
export const inboxError = signal<unknown>(undefined)

/** How much waits. */
export const waitingCount = computed(() => {
  const { mine, others } = inboxes.value
  return (mine?.size ?? 0) + (others?.size ?? 0)
})

/** What a screen reader is told once. */
export const announcement = signal('')

/** Requests that the user has been told of. */
const told = new Set<string>()

/** Whether the service tells this user what waits. */
export const hasInbox = computed(
  () => config.value.plugins.includes('approvals') && config.value.identity !== null,
)

/** Watches for as long as it is drawn. */
export function useInboxes(): void {
  const isOn = hasInbox.value
  useEffect(() => {
    if (!isOn) return
    const controller = new AbortController()
    for (const whose of WHOSE) void watch(whose, controller.signal)
    return () => controller.abort()
  }, [isOn])
}

/** Reads what waits anew, as after a request that has changed. */
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

/** Until the page is hidden. */
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
  const fresh = [...after.values()].filter(({ request }) => !told.has(request.id))
  for (const { request } of fresh) told.add(request.id)
  const [first] = fresh
  if (before === undefined) return
  if (first === undefined) {
    // So that the same words are said again, should they be needed.
    announcement.value = ''
    return
  }
  const { request, run } = first
  const more = fresh.length > 1 ? `, and ${fresh.length - 1} more` : ''
  announcement.value = visible(`New approval: ${run.name} wants ${request.toolName}${more}`)
}
