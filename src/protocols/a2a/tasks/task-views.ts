import type { Reader, Store } from '../../../stores/store.ts'
import { logOf, TaskGathering } from './task-body.ts'

/** A gathering of fewer entries is not held, because reading it again is quick. */
const WORTH_HOLDING = 64

/** Most bytes of all held gatherings, by estimate. */
const MAX_BYTES = 16 * 1024 * 1024
/** Most tasks with a held gathering. */
const MAX_TASKS = 1000

/** Entries of a task at work after which they are gathered. A request then never has to read more than that. */
const READ_EVERY = 2048

/**
 * Gatherings of recently read tasks. The next read of a task reads only its new entries. A log only grows, so a gathering
 * stays valid. After a transaction that writes, the caller holds the gathering itself once the transaction is written.
 */
export class TaskViews {
  readonly #held = new Map<string, TaskGathering>()
  #bytes = 0
  /** How many log entries all calls together have read. */
  entriesRead = 0

  /**
   * Returns the content of a task's log. The transaction must not write: the gathering would keep entries that are rolled
   * back.
   */
  read(tx: Reader, taskId: string): TaskGathering {
    const gathering = this.#heldBy(tx, taskId) ?? TaskGathering.of(tx, taskId)
    this.forget(taskId)
    const before = gathering.read
    gathering.readOn(tx, taskId)
    this.entriesRead += gathering.read - before
    this.hold(taskId, gathering)
    return gathering
  }

  /**
   * Returns the content of a task's log in a transaction that writes. It changes no held gathering. `upTo` limits it to
   * entries up to that number. `key` separates readers at different positions of one log.
   */
  readApart(
    tx: Reader,
    taskId: string,
    { upTo = Number.POSITIVE_INFINITY, key = taskId }: { readonly upTo?: number; readonly key?: string } = {},
  ): TaskGathering {
    const held = this.#heldBy(tx, taskId, key)
    const gathering = held === undefined || held.seq > upTo ? this.#begin(tx, taskId, upTo) : held.copy()
    return gathering.readOn(tx, taskId, upTo)
  }

  /**
   * Gathers the entries of a task while its agent works. Call the returned function with the number of entries that were
   * written.
   */
  keepUp(taskId: string, store: Store): (entries: number) => void {
    let unread = 0
    let isHeld = true
    const readOn = async () => {
      try {
        await store.read(tx => this.read(tx, taskId))
        // Without room for the gathering, each read would begin at the first entry.
        isHeld = this.#held.has(taskId)
      } catch {
        // The next request reads it.
      }
    }
    return entries => {
      unread += entries
      if (unread < READ_EVERY || !isHeld) return
      unread = 0
      void readOn()
    }
  }

  forget(key: string): void {
    const held = this.#held.get(key)
    if (held === undefined) return
    this.#held.delete(key)
    this.#bytes -= held.size
  }

  /** Returns the held gathering, unless the reader sees an older state of the store. */
  #heldBy(tx: Reader, taskId: string, key: string = taskId): TaskGathering | undefined {
    const held = this.#held.get(key)
    return held !== undefined && held.seq <= tx.length(logOf(taskId)) ? held : undefined
  }

  #begin(tx: Reader, taskId: string, upTo: number): TaskGathering {
    const kept = TaskGathering.of(tx, taskId)
    return kept.seq > upTo ? new TaskGathering() : kept
  }

  /**
   * Holds a gathering. The least recently used ones are dropped. A gathering that is too large alone is not held, and none
   * is dropped for it.
   */
  hold(key: string, gathering: TaskGathering): void {
    this.forget(key)
    if (gathering.read < WORTH_HOLDING || gathering.size > MAX_BYTES) return
    this.#held.set(key, gathering)
    this.#bytes += gathering.size
    for (const oldest of this.#held.keys()) {
      if (this.#bytes <= MAX_BYTES && this.#held.size <= MAX_TASKS) return
      this.forget(oldest)
    }
  }
}
