/**
 * Reads the bodies of answers, as a whole or as server-sent events. It has limits, and reads only on demand.
 *
 * @module
 */

import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { brokeOff, invalidResponse, type ServableClientError } from './error.ts'
import { MAX_TIMER_MS } from './signal.ts'

/**
 * A body as text. Throws `network_error` if the body breaks off, and `invalid_response` if it has more than `maxLength`
 * characters.
 */
export async function readText(response: Response, signal: AbortSignal, maxLength: number): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of chunksOf(response, signal, MAX_TIMER_MS)) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > maxLength) throw tooLong()
  }
  return text
}

/**
 * A body as bytes. Throws `network_error` if the body breaks off, and `invalid_response` if it has more than `maxLength` bytes.
 */
export async function readBytes(
  response: Response,
  signal: AbortSignal,
  maxLength: number,
): Promise<Uint8Array<ArrayBuffer>[]> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  for await (const chunk of chunksOf(response, signal, MAX_TIMER_MS)) {
    chunks.push(chunk)
    length += chunk.length
    if (length > maxLength) throw tooLong()
  }
  return chunks
}

/** Parses JSON. Returns undefined unless it is an object or array. `revive` is that of `JSON.parse`. */
export function parseObject(
  text: string,
  revive?: (name: string, value: unknown) => unknown,
): object | undefined {
  try {
    const value: unknown = JSON.parse(text, revive)
    return Object(value) === value ? (value as object) : undefined
  } catch {
    return undefined
  }
}

/** Options of a stream's reader. */
export interface StreamOptions {
  readonly signal: AbortSignal
  /** Most characters of an event. */
  readonly maxLength: number
  /** Milliseconds of silence after which the connection counts as closed. */
  readonly silenceMs: number
  /** Gets the comments, which keep the stream alive. */
  onComment(comment: string): void
}

/** The events of a stream as they come. They end when the connection closes. */
export async function* readEvents(
  response: Response,
  { signal, maxLength, silenceMs, onComment }: StreamOptions,
): AsyncGenerator<EventSourceMessage, void> {
  const events: EventSourceMessage[] = []
  let isTooLong = false
  const parser = createParser({
    onEvent: event => events.push(event),
    onComment,
    onError: ({ type }) => {
      isTooLong ||= type === 'max-buffer-size-exceeded'
    },
    maxBufferSize: maxLength,
  })
  const decoder = new TextDecoder()
  for await (const chunk of chunksOf(response, signal, silenceMs)) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    yield* events.splice(0)
    if (isTooLong) throw tooLong()
  }
}

async function* chunksOf(
  { body }: Response,
  signal: AbortSignal,
  silenceMs: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const reader = body?.getReader()
  if (!reader) return
  const leave = () => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', leave)
  try {
    while (true) {
      // Silence ends a stream as a closed connection does.
      const timer = setTimeout(leave, Math.min(silenceMs, MAX_TIMER_MS))
      const { done, value } = await reader
        .read()
        .catch(cause => {
          throw brokeOff(cause)
        })
        .finally(() => clearTimeout(timer))
      signal.throwIfAborted()
      if (done) return
      yield value
    }
  } finally {
    signal.removeEventListener('abort', leave)
    leave()
  }
}

/** Releases an answer that will not be read. */
export function discard({ body }: Response): void {
  body?.cancel().catch(() => {})
}

function tooLong(): ServableClientError {
  return invalidResponse('The answer is longer than `maxLength`')
}
