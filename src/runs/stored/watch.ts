import { ServableError } from '../../base/errors.ts'
import { createWake, type Wake } from '../../base/wake.ts'
import type { StoredLogEntry } from '../../stores/store.ts'

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
  /** The number of followers that read each entry. Others wait for the end alone. */
  readonly readers: number
  /** Adds a follower. Throws `too_many_followers`. */
  attach(isReader?: boolean): void
  /** Removes a follower. */
  detach(isReader?: boolean): void
}

/** The options of a watch. */
export interface WatchOptions {
  /** Called with every change of the count. */
  readonly onCount?: (followers: number) => void
  /** Called when a follower begins to read. */
  readonly onReader?: () => void
  /** Whether `changed` reports every entry; if not, others may write into the log without notice. Default: true. */
  readonly tellsAll?: () => boolean
}

/** Makes a {@link Watch}, which counts followers. */
export function createWatch(
  maxFollowers: number,
  { onCount = () => {}, onReader = () => {}, tellsAll = () => true }: WatchOptions = {},
): Watch {
  let followers = 0
  let readers = 0
  return {
    changed: createWake(),
    recent: new Recent(),
    tellsAll,
    get followers() {
      return followers
    },
    get readers() {
      return readers
    },
    attach(isReader = true) {
      if (followers >= maxFollowers) {
        throw new ServableError('too_many_followers', `There are already ${maxFollowers} followers`)
      }
      if (isReader) readers++
      onCount(++followers)
      if (isReader) onReader()
    },
    detach(isReader = true) {
      if (isReader) readers--
      onCount(--followers)
    },
  }
}

/** The most entries that are held, and the most characters of them. */
const MAX_ENTRIES = 256
const MAX_LENGTH = 65_536

/**
 * The newest entries of a log that only this process writes, so that followers need not read the store. For a log that is not new
 * it holds nothing until the first entry is added.
 */
export class Recent {
  /** Consecutive entries, without a gap. */
  #entries: StoredLogEntry[] = []
  #length = 0
  /** The sequence number of the newest entry; undefined if only the store knows. */
  #last: number | undefined

  /** Begins a new log without entries. */
  begin(): void {
    this.#last = 0
  }

  /** Adds written entries, which must directly follow the earlier ones. */
  add(entries: readonly StoredLogEntry[]): void {
    for (const entry of entries) {
      this.#entries.push(entry)
      this.#length += entry.data.length
      this.#last = entry.seq
    }
    let gone = 0
    // Keep the newest one, since it marks the end of the log.
    while (this.#entries.length - gone > 1 && this.#isTooMuch(gone)) {
      this.#length -= this.#entries[gone++]!.data.length
    }
    if (gone > 0) this.#entries.splice(0, gone)
  }

  #isTooMuch(gone: number): boolean {
    return this.#entries.length - gone > MAX_ENTRIES || this.#length > MAX_LENGTH
  }

  /** At most `limit` entries after a sequence number, empty if there are none yet; undefined if only the store knows. */
  after(seq: number, limit: number): readonly StoredLogEntry[] | undefined {
    if (this.#last === undefined) return undefined
    const first = this.#last - this.#entries.length + 1
    const from = seq - first + 1
    if (from < 0) return undefined
    return this.#entries.slice(from, from + limit)
  }

  /** Forgets all entries, because others write the log from now on, or nobody does. */
  forget(): void {
    this.#entries = []
    this.#length = 0
    this.#last = undefined
  }
}
