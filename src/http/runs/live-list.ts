/**
 * A list as it changes, as server-sent events. Any process, or any object, may change it, so it is read again and again.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { type Reply, sseReply } from '../../web/reply.ts'
import { counted, type PulledSource, pulled, sseMessage } from '../../web/sse.ts'

/** Milliseconds between two looks. */
export const LOOK_EVERY_MS = 2000

/** Streams of one list that are open at a time. */
const MAX_STREAMS = 1000

/** Looks at a list. */
export interface LiveList<E> {
  /** The first look: an event with all that is there. */
  first(): Promise<E>
  /** What has changed since the look before. */
  changes(): Promise<readonly E[]>
}

/** Opens a stream of a list. `tell` hears why a list cannot be read. Throws `too_many_followers`. */
export type OpenLiveList = <E>(list: LiveList<E>, tell: (error: unknown) => void) => Reply

/** Makes an {@link OpenLiveList}, which counts its streams. */
export function createLiveList(): OpenLiveList {
  let open = 0
  const count = () => {
    open++
    return () => void open--
  }
  return (list, tell) => {
    if (open >= MAX_STREAMS) throw new ServableError('too_many_followers', 'Too many clients watch the list')
    return sseReply(counted(pulled(sseOfList(list, tell)), count))
  }
}

/**
 * The events as SSE, numbered from 1. A stream always begins with all that is there, so a client that connects again has missed
 * nothing. It ends if the list cannot be read.
 */
function sseOfList<E>(list: LiveList<E>, tell: (error: unknown) => void): PulledSource {
  const watcher = new Watcher(list)
  let id = 0
  return {
    cancel: () => watcher.leave(),
    async next() {
      const events = await watcher.next()
      return events?.map(event => sseMessage(++id, JSON.stringify(event))).join('')
    },
    broken: error => void tell(error),
  }
}

/** Looks at a list for as long as it is read. */
class Watcher<E> {
  readonly #list: LiveList<E>
  #hasBegun = false
  #hasLeft = false
  #wake = () => {}

  constructor(list: LiveList<E>) {
    this.#list = list
  }

  /** What has changed since the last call, at first all that is there. Undefined once the watcher has left. */
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
