import { EventSourceParserStream } from 'eventsource-parser/stream'
import { expect, onTestFinished } from 'vitest'

/** Reads a list as it changes. Gives a function for the next message. Tests that run at the same time pass their own `atEnd`. */
export async function watching<T>(
  url: string,
  headers: Readonly<Record<string, string>>,
  atEnd: (work: () => void) => void = onTestFinished,
) {
  const leaving = new AbortController()
  const accept = 'text/event-stream'
  const response = await fetch(url, { headers: { ...headers, accept }, signal: leaving.signal })
  atEnd(() => leaving.abort())
  expect(response.headers.get('content-type')).toContain(accept)
  const decoder = new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>
  const messages = response
    .body!.pipeThrough(decoder)
    .pipeThrough(new EventSourceParserStream({ onError: 'terminate' }))
    .getReader()
  return async () => {
    const { value } = await messages.read()
    return { id: value?.id, event: JSON.parse(value?.data ?? 'null') as T }
  }
}
