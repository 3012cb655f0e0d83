/**
 * The watches of tasks that have followers. A watch wakes them whether the agent works or the task waits.
 *
 * @module
 */

import { createWatch, type Watch } from '../../../runs/stored/watch.ts'

/** The parts of the host that the watches need. */
export interface TaskWatchesOptions {
  readonly maxFollowers: number
  /** Whether an agent works on a task here. */
  isAtWork(id: string): boolean
  /** Whether other processes may work on tasks. */
  isShared(): boolean
}

/** Holds one watch for each task that has followers or a working agent. */
export class TaskWatches {
  readonly #watches = new Map<string, Watch>()
  readonly #options: TaskWatchesOptions

  constructor(options: TaskWatchesOptions) {
    this.#options = options
  }

  /** Returns the watch of a task, and makes it if there is none. */
  of(id: string): Watch {
    let watch = this.#watches.get(id)
    if (watch === undefined) {
      watch = createWatch(this.#options.maxFollowers, {
        onCount: count => {
          if (count === 0) this.drop(id)
        },
        tellsAll: () => !this.#options.isShared() || this.#options.isAtWork(id),
      })
      this.#watches.set(id, watch)
    }
    return watch
  }

  /** Wakes the followers of a task. */
  fire(id: string): void {
    this.#watches.get(id)?.changed.fire()
  }

  /** Drops the watch of a task that has no followers and no working agent. */
  drop(id: string): void {
    const watch = this.#watches.get(id)
    if (watch?.followers === 0 && !this.#options.isAtWork(id)) this.#watches.delete(id)
  }
}
