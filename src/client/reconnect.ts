import type { EventSourceMessage } from 'eventsource-parser'
import { readEvents } from './body.ts'
import type { ClientCall } from './call.ts'
import { brokeOff } from './error.ts'
import type { CallOptions } from './options.ts'
import { notOurs } from './problem.ts'

/**
 * The messages of a stream over several connections. `open` requests the stream from its current position. The stream ends when
 * its reader leaves. It also ends if a connection closes without new messages and `isOver` confirms the end.
 */
export async function* reconnect(
  call: ClientCall,
  open: () => Promise<Response>,
  isOver?: () => Promise<boolean> | undefined,
): AsyncGenerator<EventSourceMessage, void> {
  while (true) {
    let isSilent = true
    try {
      const response = await open()
      const type = response.headers.get('content-type')
      if (!type?.startsWith('text/event-stream')) throw notOurs('no event stream', response)
      for await (const message of readEvents(response, call)) {
        isSilent = false
        yield message
      }
      if (isSilent && (await isOver?.())) return
      throw brokeOff()
    } catch (error) {
      await call.tries.again(error)
    }
  }
}

/** The reason of an iterator whose reader has left. */
const LEFT = Symbol('left')

const DONE = { done: true, value: undefined } as const

/** Reads in a call of its own. The call begins with the first read, and the reader can leave while it waits. */
export function leavable<T>(
  open: (options?: CallOptions) => ClientCall,
  options: CallOptions | undefined,
  start: (call: ClientCall) => AsyncGenerator<T, undefined>,
): AsyncIterableIterator<T, undefined> & { return(): Promise<IteratorReturnResult<undefined>> } {
  let call: ClientCall | undefined
  let items: AsyncGenerator<T, undefined> | undefined
  const begin = () => {
    call ??= open(options)
    items ??= start(call)
    return items
  }
  return {
    next: () =>
      begin()
        .next()
        .catch(error => {
          if (error === LEFT) return DONE
          throw error
        }),
    async return() {
      const all = begin()
      call?.leave(LEFT)
      await all.return(undefined)
      return DONE
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
