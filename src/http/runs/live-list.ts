/**
 * Streams a list and its changes as server-sent events. Any process or object may change the list, so it is polled.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { type Reply, sseReply } from '../../web/reply.ts'
import { counted, type PulledSource, pulled, sseMessage } from '../../web/sse.ts'

/** Milliseconds between two reads of a list. */
export const LOOK_EVERY_MS = 2000

/** The most streams of one list that are open at a time. */
const MAX_STREAMS = 1000

/** Reads a list and its changes. */
export interface LiveList<E> {
  /** Reads the list for the first time: an event with all entries. */
  first(): Promise<E>
  /** Returns the changes since the last read. */
  changes(): Promise<readonly E[]>
}

/** Opens a stream of a list. `onError` gets the error of a list that cannot be read. Throws `too_many_followers`. */
export type OpenLiveList = <E>(list: LiveList<E>, onError: (error: unknown) => void) => Reply

/** Makes an {@link OpenLiveList}, which counts its streams. */
export function createLiveList(): OpenLiveList {
  let open = 0
  const count = () => {
    open++
    return () => void open--
  }
  return (list, onError) => {
    if (open >= MAX_STREAMS) throw new ServableError('too_many_followers', 'Too many clients watch the list')
    return sseReply(counted(pulled(sseOfList(list, onError)), count))
  }
}

/**
 * Writes the events as SSE, numbered from 1. A stream always begins with all entries, so a client that reconnects has missed
 * nothing. It ends if the list cannot be read.
 */
function sseOfList<E>(list: LiveList<E>, onError: (error: unknown) => void): PulledSource {
  const watcher = new Watcher(list)
  let id = 0
  return {
    cancel: () => watcher.leave(),
    async next() {
      const events = await watcher.next()
      return events?.map(event => sseMessage(++id, JSON.stringify(event))).join('')
    },
    broken: error => void onError(error),
  }
}

/** Polls a list until its reader leaves. */
class Watcher<E> {
  readonly #list: LiveList<E>
  #hasBegun = false
  #hasLeft = false
  #wake = () => {}

  constructor(list: LiveList<E>) {
    this.#list = list
  }

  /** Returns the changes since the last call, or all entries at first. Undefined once the reader has left. */
  async next(): Promise<readonly E[] | undefined> {
    if (!this.#hasBegun) {
      this.#hasBegun = true
      return [await this.#list.first()]
    }
    while (!this.#hasLeft) {
      await this.#pause()
      const changes = this.#hasLeft ? [] : await this.#list.changes()
      if (changes.length > 0) return changes
    }
    return undefined
  }

  leave(): void {
    this.#hasLeft = true
    this.#wake()
  }

  #pause(): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, LOOK_EVERY_MS)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
