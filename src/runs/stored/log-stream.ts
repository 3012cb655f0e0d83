/**
 * Sends a log from the isolate that keeps it to another one.
 *
 * @module
 */

import type { LogEntry } from '../../stores/store.ts'
import type { Follower } from './host.ts'

/** Milliseconds between two empty lines while nothing comes. */
const ALIVE_MS = 5000

/** A log as bytes, one line an entry: byte streams cross to other isolates, with back-pressure and cancelling. */
export function streamOf(follower: Follower): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let isWaiting = false
  let timer: ReturnType<typeof setInterval> | undefined
  const stop = () => {
    if (timer !== undefined) clearInterval(timer)
  }
  return new ReadableStream({
    type: 'bytes',
    start(controller) {
      // The other side's leaving is met by writing alone: an empty line is no entry.
      timer = setInterval(() => {
        if (isWaiting) controller.enqueue(encoder.encode('\n'))
      }, ALIVE_MS)
    },
    async pull(controller) {
      isWaiting = true
      const entries = await follower.next().catch((error: unknown) => {
        stop()
        throw error
      })
      isWaiting = false
      if (entries !== undefined) {
        return controller.enqueue(encoder.encode(entries.map(({ seq, data }) => `${seq} ${data}\n`).join('')))
      }
      stop()
      controller.close()
    },
    cancel() {
      stop()
      follower.leave()
    },
  })
}

/** Reads such a stream. JSON holds no line breaks, so a line is an entry. */
export function followerOf(stream: ReadableStream<Uint8Array>): Follower {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  return {
    async next() {
      while (true) {
        const { done, value } = await reader.read()
        if (done) return undefined
        const pieces = (rest + decoder.decode(value, { stream: true })).split('\n')
        rest = pieces.pop() ?? ''
        const lines = pieces.filter(line => line !== '')
        if (lines.length > 0) return lines.map(toEntry)
      }
    },
    // What crosses from an object is not here until it is read.
    ready: () => [],
    leave() {
      void reader.cancel().then(undefined, () => {})
    },
  }
}

function toEntry(line: string): LogEntry {
  const space = line.indexOf(' ')
  return { seq: Number(line.slice(0, space)), data: line.slice(space + 1) }
}
