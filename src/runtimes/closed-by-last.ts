/**
 * Closes a state after its last server and its last work.
 *
 * @module
 */

import type { LocalParts } from '../stores/state.ts'
import type { Soon } from '../stores/store.ts'

/** Calls `close` when the last server has ended, and the last work after it. It may be called again after the next server. */
export function closedByLast(close: () => Soon<void>): Required<Pick<LocalParts, 'retain' | 'keepOpen'>> {
  const counts = { users: 0, works: 0 }
  let isLeft = false
  const hold = (count: keyof typeof counts) => () => {
    counts[count]++
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      counts[count]--
      isLeft ||= count === 'users'
      // Without a server no end is signalled, so the state stays open.
      if (!isLeft || counts.users + counts.works > 0) return
      isLeft = false
      return close()
    }
  }
  return { retain: hold('users'), keepOpen: hold('works') }
}
