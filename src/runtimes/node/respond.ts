/**
 * Replies on Node. Text and streams of messages go directly to the connection. A `Response` or `ReadableStream` is made only
 * if middleware asks for it.
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
  // srvx takes bodies beyond the standard's, which its types do not declare.
  const written = isStream(body) ? (new Messages(body) as unknown as BodyInit) : body
  return new FastResponse(written, { status, headers })
}

/** Messages as a body that writes itself, for srvx. */
class Messages {
  readonly #source: SseSource

  constructor(source: SseSource) {
    this.#source = source
  }

  /** The client left before anything was written. */
  destroy(): void {
    this.#source.cancel()
  }

  /** Gathers the messages of one turn of the event loop into one chunk. Otherwise Node would frame each message. */
  pipe(to: Writable): void {
    let gathered = ''
    let isReading = false
    /** Everything is written, or the client is gone. */
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
    // Handles errors of writes in the turn in which the connection breaks.
    to.on('error', () => {})
    to.once('close', () => {
      if (isOver) return
      isOver = true
      writer.leave()
    })
    void read()
  }
}
