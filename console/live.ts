/**
 * What happens to runs, live: one stream for all windows of a browser. One visible window leads: it has the stream, and tells the
 * others. When it is hidden or closed, another one leads. While all are hidden, nothing is streamed.
 *
 * Browsers that do not tell windows apart (no `navigator.locks`: a page without HTTPS that is not on this machine) have a stream in
 * each visible window.
 *
 * @module
 */

import { useEffect } from 'preact/hooks'
import type { InboxEvent } from '../src/features/approvals/watch.ts'
import type { RunListEvent } from '../src/http/runs/live-runs.ts'
import {
  hasInbox,
  inboxError,
  readInbox,
  takeInbox,
  WHOSE,
  type Whose,
  wholeInbox,
} from './approvals/live.ts'
import { BASE, client, config, isRefusal } from './service.ts'
import { AGAIN_MS, pause, whileShown } from './waiting.ts'

/** Most of the newest runs whose changes are streamed. */
export const WATCHED = 50

/** Milliseconds between two looks at what waits for a user: if others' runs may ask them, and for their own. */
const LOOK_MS = { others: 5000, mine: 15_000 } as const
/** The same where all windows are hidden. */
const HIDDEN_MS = 15_000

/** What the windows tell each other. */
type Message =
  | { readonly runs: RunListEvent }
  | { readonly inbox: InboxEvent; readonly whose: Whose }
  | { readonly hello: true }

type Listener = (event: RunListEvent) => void

const listeners = new Set<Listener>()

/** Calls a listener with what happens to runs. Returns a function that ends it. */
export function onNews(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

let tellOthers: (message: Message) => void = () => {}

/** Loads what waits again, for example after something was decided. */
export async function lookAgain(): Promise<void> {
  await Promise.all(WHOSE.map(whose => look(whose)))
}

/** Keeps the page live while the component is mounted. */
export function useLive(): void {
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const { identity, rights } = config.value
    // Windows of another user, or with other rights, are told nothing.
    const name = `servable ${BASE} ${JSON.stringify([identity, rights])}`
    const channel = new BroadcastChannel(name)
    tellOthers = message => channel.postMessage(message)
    channel.onmessage = ({ data }: MessageEvent<Message>) => hear(data)
    tellOthers({ hello: true })
    void stay(name, signal)
    return () => {
      controller.abort()
      tellOthers = () => {}
      channel.close()
    }
  }, [])
}

/** Whether this window leads. */
let isLeading = false

function hear(message: Message): void {
  if ('runs' in message) for (const listener of listeners) listener(message.runs)
  else if ('inbox' in message) takeInbox(message.whose, message.inbox)
  else if (isLeading)
    for (const whose of WHOSE) {
      const inbox = wholeInbox(whose)
      if (inbox) tellOthers({ inbox, whose })
    }
}

function tell(message: Message): void {
  hear(message)
  tellOthers(message)
}

/** Leads whenever this window is visible and no other one leads. */
async function stay(name: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if (document.hidden) {
      if (hasInbox.value) await lookAgain().catch(() => {})
      await pause(HIDDEN_MS, signal)
      continue
    }
    const shown = whileShown(signal)
    const work = () => lead(shown)
    // It rejects once the window is hidden before its turn came.
    await ('locks' in navigator ? navigator.locks.request(name, { signal: shown }, work) : work()).catch(
      () => {},
    )
  }
}

async function lead(signal: AbortSignal): Promise<void> {
  isLeading = true
  try {
    await Promise.all([streamRuns(signal), ...WHOSE.map(whose => watchInbox(whose, signal))])
  } finally {
    isLeading = false
  }
}

/** Streams the changes of the newest runs: everyone's, if the user may list them. */
async function streamRuns(signal: AbortSignal): Promise<void> {
  const { notStored, listsRuns, rights } = config.value
  if (notStored !== null || !listsRuns) return
  const ofAll = rights.includes('list') ? [{ owner: '*' }] : []
  // Where nobody keeps a list of all, the user's own is watched.
  for (const whose of [...ofAll, {}]) await followRuns(whose, signal)
}

/** Follows a list until the service refuses it. */
async function followRuns(whose: { readonly owner?: string }, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const event of client.runs.watch({ limit: WATCHED, ...whose }, { signal })) {
        tell({ runs: event })
        if ('run' in event && event.run.status === 'input_required' && hasInbox.value) void lookAtMine()
      }
    } catch (error) {
      if (isRefusal(error)) return
    }
    await pause(AGAIN_MS, signal)
  }
}

/** Reads what waits for the user, since a run has begun or ceased to wait. The next look mends what fails. */
async function lookAtMine(): Promise<void> {
  await look('mine').catch(() => {})
}

async function watchInbox(whose: Whose, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && hasInbox.value) {
    try {
      await look(whose, signal)
    } catch (error) {
      if (!signal.aborted) inboxError.value = error
    }
    await pause(inboxError.value === undefined ? LOOK_MS[whose] : AGAIN_MS, signal)
  }
}

async function look(whose: Whose, signal?: AbortSignal): Promise<void> {
  tell({ inbox: await readInbox(whose, signal), whose })
}
