/**
 * The answer to a call: JSON where it comes soon, else a stream that tells how far it is.
 *
 * @module
 */

import { pulled, type SseSource, sseData } from '../../web/sse.ts'
import type { Reading } from './reading.ts'

/** Milliseconds between two notifications of progress: at least, and at most. Clients give up after a minute without one. */
const MIN_GAP_MS = 250
const MAX_GAP_MS = 5000

/** What a stream tells. */
export interface StreamedCall {
  readonly reading: Reading
  /** The last message: the result, or an error. Never rejects. */
  readonly last: Promise<object>
  /** What the client wants to know progress by; undefined where it does not. */
  readonly token: unknown
  /** What the service asks the client, until it is told. */
  readonly asked: object[]
  /** The client has left. */
  readonly leave: () => void
}

/** Tells progress, and then the last message. */
export function streamOf({ reading, last, token, asked, leave }: StreamedCall): SseSource {
  let progress = 0
  let moves = 0
  let toldAt = performance.now() - MIN_GAP_MS
  let ended: object | undefined
  let isOver = false
  let wake = () => {}
  // Once, not at each wait: what waits for a promise stays with it.
  void last.then(message => {
    ended = message
    wake()
  })
  const tellProgress = () => {
    toldAt = performance.now()
    moves = reading.moves
    const params = { progressToken: token, progress: ++progress, message: reading.news || 'Works' }
    return { jsonrpc: '2.0', method: 'notifications/progress', params }
  }
  /** The next message; undefined where there is none yet. */
  const look = async () => {
    if (asked.length > 0) return asked.shift()
    isOver = ended !== undefined
    if (ended !== undefined) return ended
    const hasNews = reading.moves > moves
    const since = token === undefined ? 0 : performance.now() - toldAt
    const gap = (hasNews ? MIN_GAP_MS : MAX_GAP_MS) - since
    if (gap <= 0) return tellProgress()
    await pause(gap, resolve => {
      wake = resolve
      reading.onMove = hasNews ? undefined : resolve
    })
    return undefined
  }
  const next = async () => {
    while (!isOver) {
      const told = await look()
      if (told !== undefined) return sseData(told)
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

/** Waits so many milliseconds, or until it is woken. */
async function pause(ms: number, onWait: (wake: () => void) => void): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  await new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms)
    onWait(resolve)
  })
  clearTimeout(timer)
}

/** What comes of work within so many milliseconds; undefined where nothing has. */
export function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, undefined)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
