/**
 * Places for streams. Browsers keep six connections to a host over HTTP/1.1, for all windows together, so that a few streams would leave
 * none for requests. One is for the news of runs (`live.ts`), and these are for all others. Over HTTP/2 there are as many as one likes.
 *
 * @module
 */

import { BASE } from './service.ts'
import { AGAIN_MS, pause, untilShown, whileShown } from './waiting.ts'

/** Places of all windows together, and how many of them the answers of chats may have. */
const PLACES = 3
const OF_CHATS = 2

/** Whether the browser has few connections, and can tell which are in use. */
function isScarce(): boolean {
  const [page] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  return page?.nextHopProtocol === 'http/1.1' && 'locks' in navigator
}

/** Takes a place. Returns the function that frees it, or undefined if there is none. */
export async function takePlace(what: 'chat' | 'other'): Promise<(() => void) | undefined> {
  if (!isScarce()) return () => {}
  for (let place = 0; place < (what === 'chat' ? OF_CHATS : PLACES); place++) {
    const free = await lock(`servable ${BASE} stream ${place}`)
    if (free) return free
  }
  return undefined
}

/**
 * Reads a stream while the page is visible and has a place for it. `onWait` is told whether it waits for a place. Returns undefined if
 * the page was hidden meanwhile.
 */
export async function readWhileShown<T>(
  signal: AbortSignal,
  onWait: (isWaiting: boolean) => void,
  read: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  await untilShown(signal)
  const shown = whileShown(signal)
  let free: (() => void) | undefined
  try {
    for (free = await takePlace('other'); free === undefined; free = await takePlace('other')) {
      onWait(true)
      await pause(AGAIN_MS, shown)
      shown.throwIfAborted()
    }
    onWait(false)
    return await read(shown)
  } catch (error) {
    if (shown.aborted && !signal.aborted) return undefined
    throw error
  } finally {
    free?.()
  }
}

/** Holds a lock until the returned function is called. Undefined if somebody else holds it. */
function lock(name: string): Promise<(() => void) | undefined> {
  return new Promise(resolve => {
    void navigator.locks.request(name, { ifAvailable: true }, held => {
      if (held === null) return resolve(undefined)
      return new Promise<void>(free => resolve(free))
    })
  })
}
