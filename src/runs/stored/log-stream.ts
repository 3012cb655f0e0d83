/**
 * Sends a log from its isolate to another one.
 *
 * @module
 */

import type { StoredLogEntry } from '../../stores/store.ts'
import type { Follower } from './host.ts'

/** Milliseconds between two empty lines while no entries come. */
const ALIVE_MS = 5000

/** A log as bytes, one line per entry. Byte streams cross isolates with back-pressure and cancelling. */
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
      // Only a write shows that the other side has left. An empty line is no entry.
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

/** Reads a stream of {@link streamOf}. JSON has no line breaks, so each line is an entry. */
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
    // Entries from an object are not here until they are read.
    ready: () => [],
    leave() {
      void reader.cancel().then(undefined, () => {})
    },
  }
}

function toEntry(line: string): StoredLogEntry {
  const space = line.indexOf(' ')
  return { seq: Number(line.slice(0, space)), data: line.slice(space + 1) }
}
