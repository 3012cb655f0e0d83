/**
 * Replies on Node: text and streams of messages go to the connection as they are, with no `Response` and no
 * `ReadableStream` between, unless middleware asks for those.
 *
 * @module
 */

import process from 'node:process'
import type { Writable } from 'node:stream'
import { FastResponse } from 'srvx/node'
import { isStream, type Reply } from '../../web/reply.ts'
import { createSseWriter, MAX_GATHERED, type SseSource } from '../../web/sse.ts'

/** Makes the response of a reply. */
export function respond({ body, status, headers }: Reply): Response {
  // What srvx takes beyond the standard's bodies, its types do not say.
  const written = isStream(body) ? (new Messages(body) as unknown as BodyInit) : body
  return new FastResponse(written, { status, headers })
}

/** Messages as srvx takes a body that writes itself. */
class Messages {
  readonly #source: SseSource

  constructor(source: SseSource) {
    this.#source = source
  }

  /** The client left before anything was written. */
  destroy(): void {
    this.#source.cancel()
  }

  /** What comes in one turn of the event loop leaves as one chunk: Node would send it in one go, but frame each. */
  pipe(to: Writable): void {
    let gathered = ''
    let isReading = false
    /** All is written, or the client is gone. */
    let isOver = false
    const flush = () => {
      if (isOver) return
      if (gathered !== '') to.write(gathered)
      gathered = ''
      if (!isReading && !to.writableNeedDrain) void read()
    }
    const writer = createSseWriter(this.#source, {
      write(text) {
        if (gathered === '') process.nextTick(flush)
        gathered += text
      },
      hasRoom: () => gathered.length < MAX_GATHERED && !to.writableNeedDrain,
    })
    const read = async () => {
      isReading = true
      const isDone = await writer.write()
      isReading = false
      if (!isDone || isOver) return
      isOver = true
      to.end(gathered)
    }
    to.on('drain', flush)
    // What is written in the turn in which the connection breaks.
    to.on('error', () => {})
    to.once('close', () => {
      if (isOver) return
      isOver = true
      writer.leave()
    })
    void read()
  }
}
