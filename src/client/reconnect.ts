import type { EventSourceMessage } from 'eventsource-parser'
import { discard, readEvents } from './body.ts'
import { mayPass, ServableClientError } from './error.ts'
import { notOurs, type Settings } from './transport.ts'
import type { Tries } from './tries.ts'

/** What a stream needs to be read to its end, however often its connection is lost. */
export interface ReconnectOptions {
  /** Asks for the stream, from where it has come. */
  open(): Promise<Response>
  readonly settings: Settings
  readonly signal: AbortSignal
  readonly tries: Tries
  /** A connection was closed that said nothing new: whether that was all. */
  isOver?(): Promise<boolean>
}

/** The messages of a stream, connection after connection. It ends with its reader, or where it is over. */
export async function* reconnect(options: ReconnectOptions): AsyncGenerator<EventSourceMessage, void> {
  const { tries } = options
  // Only the service writes this one, and not at once: the connection is good, and there is nothing to say.
  const onComment = (comment: string) => {
    if (comment.trim() === 'keep-alive') tries.progress()
  }
  while (true) {
    let error: unknown = new ServableClientError('network_error', 'The stream was closed before its end')
    let isSilent = true
    try {
      const response = await options.open()
      checkStream(response)
      for await (const message of readEvents(
        response,
        { ...options.settings, signal: options.signal },
        onComment,
      )) {
        isSilent = false
        yield message
      }
      if (isSilent && (await options.isOver?.())) return
    } catch (thrown) {
      if (!mayPass(thrown)) throw thrown
      error = thrown
    }
    await tries.again(error)
  }
}

function checkStream(response: Response): void {
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) return
  discard(response)
  throw notOurs(response, 'event stream')
}
