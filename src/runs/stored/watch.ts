import { ServableError } from '../../base/errors.ts'
import { createWake, type Wake } from '../../base/wake.ts'
import { Recent } from './recent.ts'

/** The followers of a log while it grows. */
export interface Watch {
  /** Fires when the log has something new. */
  readonly changed: Wake
  /** The newest entries that were written here. */
  readonly recent: Recent
  /** Whether `changed` reports every entry. */
  tellsAll(): boolean
  /** The number of followers. */
  readonly followers: number
  /** Adds a follower. Throws `too_many_followers`. */
  attach(): void
  /** Removes a follower. */
  detach(): void
}

/** The options of a watch. */
export interface WatchOptions {
  /** Called with every change of the count. */
  readonly onCount?: (followers: number) => void
  /** Whether `changed` reports every entry; if not, others may write into the log without notice. Default: true. */
  readonly tellsAll?: () => boolean
}

/** Makes a {@link Watch}, which counts followers. */
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
