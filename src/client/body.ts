/**
 * Reads the bodies of answers: whole, and as server-sent events. Both within bounds, and no further than asked for.
 *
 * @module
 */

import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { brokeOff, invalidResponse, type ServableClientError } from './error.ts'
import { MAX_TIMER_MS } from './signal.ts'

/** A body as text. Throws `network_error` where it breaks off, `invalid_response` past so many characters. */
export async function readText(response: Response, signal: AbortSignal, maxLength: number): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of chunksOf(response, signal, MAX_TIMER_MS)) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > maxLength) throw tooLong()
  }
  return text
}

/** The same as bytes; `invalid_response` past so many. */
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

/** The object or array that a text of JSON is; undefined for anything else. `revive` is that of `JSON.parse`. */
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

/** How a stream is read. */
export interface StreamOptions {
  readonly signal: AbortSignal
  /** Most characters of an event. */
  readonly maxLength: number
  /** Milliseconds of silence after which the connection counts as closed. */
  readonly silenceMs: number
  /** Hears what keeps the stream alive. */
  onComment(comment: string): void
}

/** The events of a stream, as they come. Ends where the connection is closed. */
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
      // Silence ends a stream as its closing would.
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

/** Lets an answer go that nobody reads. */
export function discard({ body }: Response): void {
  body?.cancel().catch(() => {})
}

function tooLong(): ServableClientError {
  return invalidResponse('The answer is longer than `maxLength`')
}
