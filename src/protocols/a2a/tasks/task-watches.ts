/**
 * The watches of tasks with followers, whether the agent works or the task waits.
 *
 * @module
 */

import { createWatch, type Watch } from '../../../runs/stored/watch.ts'

/** What it needs of the host. */
export interface TaskWatchesOptions {
  readonly maxFollowers: number
  /** Whether an agent works on a task here. */
  isAtWork(id: string): boolean
  /** Whether other processes may work on tasks. */
  isShared(): boolean
}

/** See the module's head. */
export class TaskWatches {
  readonly #watches = new Map<string, Watch>()
  readonly #options: TaskWatchesOptions

  constructor(options: TaskWatchesOptions) {
    this.#options = options
  }

  /** The watch of a task, which there is from now on. */
  of(id: string): Watch {
    let watch = this.#watches.get(id)
    if (watch === undefined) {
      watch = createWatch(this.#options.maxFollowers, {
        onCount: count => {
          if (count === 0) this.letGo(id)
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
  letGo(id: string): void {
    const watch = this.#watches.get(id)
    if (watch?.followers === 0 && !this.#options.isAtWork(id)) this.#watches.delete(id)
  }
}
