/**
 * Replies on Node: text and streams of messages go to the connection as they are, with no `Response` and no
 * `ReadableStream` between, unless middleware asks for those.
 *
 * @module
 */

import type { Writable } from 'node:stream'
import { FastResponse } from 'srvx/node'
import type { Reply } from '../../web/reply.ts'
import { createSseWriter, type SseSource } from '../../web/sse.ts'

/** Makes the response of a reply. */
export function respond({ body, status, headers }: Reply): Response {
  const isStream = typeof body === 'object' && body !== null
  // What srvx takes beyond the standard's bodies, its types do not say.
  const written = isStream ? (new Messages(body) as unknown as BodyInit) : body
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

  pipe(to: Writable): void {
    const writer = createSseWriter(this.#source, {
      write: text => void to.write(text),
      hasRoom: () => !to.writableNeedDrain,
    })
    let isWriting = false
    const write = async () => {
      // What a comment filled was drained while the next message was waited for.
      if (isWriting) return
      isWriting = true
      const isDone = await writer.write()
      isWriting = false
      if (isDone) to.end()
    }
    to.on('drain', write)
    // What is written in the turn in which the connection breaks.
    to.on('error', () => {})
    to.once('close', () => {
      if (!to.writableEnded) writer.leave()
    })
    void write()
  }
}
