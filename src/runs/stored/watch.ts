import { ServableError } from '../../base/errors.ts'
import { createWake, type Wake } from '../../base/wake.ts'
import { Recent } from './recent.ts'

/** Those who follow a log while it grows. */
export interface Watch {
  /** Fires when there is something new in the log. */
  readonly changed: Wake
  /** What was written into it here. */
  readonly recent: Recent
  /** Whether `changed` tells of everything. */
  tellsAll(): boolean
  /** How many follow. */
  readonly followers: number
  /** One more follower. Throws `too_many_followers`. */
  attach(): void
  /** A follower has left. */
  detach(): void
}

/** How a watch behaves. */
export interface WatchOptions {
  /** Told of every change of the count. */
  readonly onCount?: (followers: number) => void
  /** Whether `changed` tells of everything; otherwise others may write into the log unheard. Default: it does. */
  readonly tellsAll?: () => boolean
}

/** Counts followers. */
export function createWatch(
  maxFollowers: number,
  { onCount = () => {}, tellsAll = () => true }: WatchOptions = {},
): Watch {
  let followers = 0
  return {
    changed: createWake(),
    recent: new Recent(),
    tellsAll,
    get followers() {
      return followers
    },
    attach() {
      if (followers >= maxFollowers) {
        throw new ServableError('too_many_followers', `There are already ${maxFollowers} followers`)
      }
      onCount(++followers)
    },
    detach() {
      onCount(--followers)
    },
  }
}
