import { ServableError } from '../errors.ts'
import { createWake, type Wake } from '../wake.ts'

/** Those who follow a log while it grows. */
export interface Watch {
  /** Fires when there is something new in the log. */
  readonly changed: Wake
  /** How many follow. */
  readonly followers: number
  /** One more follower. Throws `too_many_followers`. */
  attach(): void
  /** A follower has left. */
  detach(): void
}

/** Counts followers. `onCount` is told of every change. */
export function createWatch(maxFollowers: number, onCount: (followers: number) => void = () => {}): Watch {
  let followers = 0
  return {
    changed: createWake(),
    get followers() {
      return followers
    },
    attach() {
      if (followers >= maxFollowers) {
        throw new ServableError('too_many_followers', `There are ${maxFollowers} followers already`)
      }
      onCount(++followers)
    },
    detach() {
      onCount(--followers)
    },
  }
}
