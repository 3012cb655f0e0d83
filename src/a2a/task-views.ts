import type { Reader, Store } from '../state/store.ts'
import { logOf } from './log-name.ts'
import { Gathering } from './task-body.ts'

/** Entries that are quickly read again: what comes of fewer is not held. */
const WORTH_HOLDING = 64

/** Most bytes, by estimate, of what is held, and most tasks. */
const MAX_BYTES = 16 * 1024 * 1024
const MAX_TASKS = 1000

/** Entries that a task at work may be ahead of what was gathered of it, so that nobody who asks reads more of its log. */
const READ_EVERY = 2048

/**
 * What was gathered of tasks lately, so that whoever asks for one again reads what is new alone. A log only grows, so what was
 * gathered of it holds for good. What is read in a transaction that writes is held once that is written, by whoever knows.
 */
export class TaskViews {
  readonly #held = new Map<string, Gathering>()
  #bytes = 0
  /** Entries that were read for its callers, in all. */
  entriesRead = 0

  /** What the log of a task says. Nothing may be written in the transaction: what is undone would be gathered already. */
  read(tx: Reader, taskId: string): Gathering {
    const gathering = this.#heldBy(tx, taskId) ?? Gathering.of(tx, taskId)
    this.forget(taskId)
    const before = gathering.read
    gathering.readOn(tx, taskId)
    this.entriesRead += gathering.read - before
    this.hold(taskId, gathering)
    return gathering
  }

  /**
   * The same, for a transaction that writes: nothing is held of it. Up to an entry, where one is named; `key` tells apart
   * those that are at different places of one log.
   */
  readApart(
    tx: Reader,
    taskId: string,
    { upTo = Number.POSITIVE_INFINITY, key = taskId }: { readonly upTo?: number; readonly key?: string } = {},
  ): Gathering {
    const held = this.#heldBy(tx, taskId, key)
    const gathering = held === undefined || held.seq > upTo ? this.#begin(tx, taskId, upTo) : held.copy()
    return gathering.readOn(tx, taskId, upTo)
  }

  /** Gathers what a task says while it is at work. What this gives is told of how many entries are written. */
  keepUp(taskId: string, store: Store): (entries: number) => void {
    let unread = 0
    let isHeld = true
    const readOn = async () => {
      try {
        await store.read(tx => this.read(tx, taskId))
        // Where there is no room for it, reading on would begin with its first entry each time.
        isHeld = this.#held.has(taskId)
      } catch {
        // Whoever asks reads it then.
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

  /** What is held, unless the reader sees the store as it was before that. */
  #heldBy(tx: Reader, taskId: string, key: string = taskId): Gathering | undefined {
    const held = this.#held.get(key)
    return held !== undefined && held.seq <= tx.length(logOf(taskId)) ? held : undefined
  }

  #begin(tx: Reader, taskId: string, upTo: number): Gathering {
    const kept = Gathering.of(tx, taskId)
    return kept.seq > upTo ? new Gathering() : kept
  }

  /** Who was asked for least lately leaves first. What is too large by itself is not held, and nothing leaves for it. */
  hold(key: string, gathering: Gathering): void {
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
