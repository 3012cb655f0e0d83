/**
 * The answer to a call: JSON where it comes soon, else a stream that tells how far it is.
 *
 * @module
 */

import { sseData } from '../encoders/encoder.ts'
import { pulled, type SseSource } from '../web/sse.ts'
import type { Reading } from './reading.ts'

/** Milliseconds between two notifications of progress: at least, and at most. Clients give up after a minute without one. */
const MIN_GAP_MS = 250
const MAX_GAP_MS = 5000

/** What a stream tells. */
export interface Telling {
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
export function streamOf({ reading, last, token, asked, leave }: Telling): SseSource {
  let progress = 0
  let moves = 0
  let toldAt = Date.now() - MIN_GAP_MS
  let isOver = false
  const tellProgress = () => {
    toldAt = Date.now()
    moves = reading.moves
    const params = { progressToken: token, progress: ++progress, message: reading.news || 'Works' }
    return { jsonrpc: '2.0', method: 'notifications/progress', params }
  }
  let end: object | undefined
  let wake = () => {}
  // Told once: a stream may be open for hours, and whatever waits for a promise is kept as long as that one.
  void last.then(message => {
    end = message
    wake()
  })
  /** Waits so many milliseconds, or until the end; perhaps until the run does something. */
  const pause = (ms: number, isForNews: boolean) =>
    new Promise<void>(resolve => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
      reading.onMove = isForNews ? wake : undefined
    })
  /** The next message; undefined where there is none yet. */
  const look = async () => {
    const hasNews = reading.moves > moves
    const since = token === undefined ? 0 : Date.now() - toldAt
    const gap = (hasNews ? MIN_GAP_MS : MAX_GAP_MS) - since
    if (gap <= 0) return tellProgress()
    if (end === undefined) await pause(gap, !hasNews)
    isOver = end !== undefined
    return end
  }
  const next = async () => {
    while (!isOver && !reading.hasLeft) {
      const told = asked.shift() ?? (await look())
      if (told !== undefined) return sseData(told)
    }
    return undefined
  }
  return pulled({ cancel: leave, next })
}

/** What comes of work within so many milliseconds; undefined where nothing has. */
export async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const pause = new Promise<undefined>(resolve => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  try {
    return await Promise.race([work, pause])
  } finally {
    clearTimeout(timer)
  }
}
