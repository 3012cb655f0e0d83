/**
 * The stream of a call that takes long: notifications of progress, requests to the client, and the result.
 *
 * @module
 */

import { pulled, type SseSource, sseData } from '../../web/sse.ts'
import type { RunReader } from './run-reader.ts'

/** Least milliseconds between two notifications of progress. */
const MIN_GAP_MS = 250
/** Most milliseconds between two notifications of progress. Clients give up after a minute without one. */
const MAX_GAP_MS = 5000

/** The content of a stream. */
export interface StreamedCall {
  readonly reading: RunReader
  /** The last message: the result, or an error. Never rejects. */
  readonly last: Promise<object>
  /** The client's token for progress. Undefined if it wants no progress. */
  readonly token: unknown
  /** Requests to the client that were not sent yet. */
  readonly asked: object[]
  /** Is called when the client disconnects. */
  readonly leave: () => void
}

/** Makes the stream: progress and requests, and then the last message. */
export function streamOf({ reading, last, token, asked, leave }: StreamedCall): SseSource {
  let progress = 0
  let changes = 0
  let sentAt = performance.now() - MIN_GAP_MS
  let ended: object | undefined
  let isOver = false
  let wake = () => {}
  // Attached once and not at each wait, because a promise holds all of its listeners.
  void last.then(message => {
    ended = message
    wake()
  })
  const progressMessage = () => {
    sentAt = performance.now()
    changes = reading.changes
    const params = { progressToken: token, progress: ++progress, message: reading.news || 'Works' }
    return { jsonrpc: '2.0', method: 'notifications/progress', params }
  }
  /** Returns the next message, or undefined after a wait if there is none yet. */
  const nextMessage = async () => {
    if (asked.length > 0) return asked.shift()
    isOver = ended !== undefined
    if (ended !== undefined) return ended
    const hasNews = reading.changes > changes
    const since = token === undefined ? 0 : performance.now() - sentAt
    const gap = (hasNews ? MIN_GAP_MS : MAX_GAP_MS) - since
    if (gap <= 0) return progressMessage()
    await pause(gap, resolve => {
      wake = resolve
      reading.onChange = hasNews ? undefined : resolve
    })
    return undefined
  }
  const next = async () => {
    while (!isOver) {
      const message = await nextMessage()
      if (message !== undefined) return sseData(message)
    }
    return undefined
  }
  const cancel = () => {
    isOver = true
    wake()
    leave()
  }
  return pulled({ cancel, next })
}

/** Waits `ms` milliseconds, or until `wake` is called. */
export async function pause(ms: number, onWait: (wake: () => void) => void): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  await new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms)
    onWait(resolve)
  })
  clearTimeout(timer)
}

/** The value of `work`, or undefined if it takes longer than `ms` milliseconds. */
export function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, undefined)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
