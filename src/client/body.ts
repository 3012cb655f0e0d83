/**
 * Reads the bodies of answers: whole, and as server-sent events. Both within bounds, and no further than asked for.
 *
 * @module
 */

import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { ServableClientError } from './error.ts'
import { MAX_TIMER_MS } from './signal.ts'

/** What bounds reading. */
export interface ReadOptions {
  readonly signal: AbortSignal
  /** Most characters of a body, or of one event. */
  readonly maxLength: number
  /** Milliseconds of silence after which the connection counts as lost. Default: none. */
  readonly silenceMs?: number
}

/** A body as text. Throws `network_error` where it breaks off, `invalid_response` where it is too long. */
export async function readText(response: Response, options: ReadOptions): Promise<string> {
  let text = ''
  for await (const chunk of chunksOf(response, options)) {
    text += chunk
    if (text.length > options.maxLength) throw tooLong(options)
  }
  return text
}

/** The events of a stream, as they come. `onComment` hears what keeps it alive. Ends where the connection is closed. */
export async function* readEvents(
  response: Response,
  options: ReadOptions,
  onComment: (comment: string) => void = () => {},
): AsyncGenerator<EventSourceMessage, void> {
  let events: EventSourceMessage[] = []
  let overflow: ServableClientError | undefined
  const parser = createParser({
    onEvent: event => events.push(event),
    onComment,
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') overflow = tooLong(options)
    },
    maxBufferSize: options.maxLength,
  })
  for await (const chunk of chunksOf(response, options)) {
    parser.feed(chunk)
    const ready = events
    events = []
    yield* ready
    if (overflow !== undefined) throw overflow
  }
}

async function* chunksOf(response: Response, options: ReadOptions): AsyncGenerator<string, void> {
  const { signal } = options
  const reader = response.body?.getReader()
  if (reader === undefined) return
  const decoder = new TextDecoder()
  const leave = () => void reader.cancel().catch(() => {})
  signal.addEventListener('abort', leave)
  try {
    while (true) {
      signal.throwIfAborted()
      const { done, value } = await read(reader, options)
      signal.throwIfAborted()
      if (done) return
      yield decoder.decode(value, { stream: true })
    }
  } finally {
    signal.removeEventListener('abort', leave)
    leave()
  }
}

/** One chunk. A reader that waits too long is told that its connection is lost. */
async function read(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { signal, silenceMs = Number.POSITIVE_INFINITY }: ReadOptions,
) {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    if (silenceMs <= MAX_TIMER_MS) timer = setTimeout(() => reject(new Error('It is silent')), silenceMs)
  })
  try {
    return await Promise.race([reader.read(), silence])
  } catch (cause) {
    signal.throwIfAborted()
    throw new ServableClientError('network_error', 'The answer broke off', { cause })
  } finally {
    clearTimeout(timer)
  }
}

/** Lets an answer go that nobody reads. */
export function discard(response: Response): void {
  response.body?.cancel().catch(() => {})
}

function tooLong({ maxLength }: ReadOptions): ServableClientError {
  return new ServableClientError(
    'invalid_response',
    `The answer is longer than \`maxLength\`, ${maxLength} characters: give the client a larger one`,
  )
}
