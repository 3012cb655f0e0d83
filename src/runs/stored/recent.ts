import type { LogEntry } from '../../stores/store.ts'

/** Entries that are held at the most, and characters of them. */
const MAX_ENTRIES = 256
const MAX_LENGTH = 65_536

/**
 * The newest entries of a log that is written here and by nobody else: whoever follows it need not read the store. Of a log that is
 * not new it knows nothing until the first one is added.
 */
export class Recent {
  /** One after the other, without a gap. */
  #entries: LogEntry[] = []
  #length = 0
  /** The place of the newest entry; undefined where only the store knows. */
  #last: number | undefined

  /** The log is new: it has no entries. */
  begin(): void {
    this.#last = 0
  }

  /** Adds entries that have been written. They follow each other, and those before. */
  add(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      this.#entries.push(entry)
      this.#length += entry.data.length
      this.#last = entry.seq
    }
    let gone = 0
    // The newest one says where the log ends: it stays.
    while (this.#entries.length - gone > 1 && this.#isTooMuch(gone)) {
      this.#length -= this.#entries[gone++]!.data.length
    }
    if (gone > 0) this.#entries.splice(0, gone)
  }

  #isTooMuch(gone: number): boolean {
    return this.#entries.length - gone > MAX_ENTRIES || this.#length > MAX_LENGTH
  }

  /** At most `limit` entries after a place, none where there are none yet; undefined where only the store knows. */
  after(seq: number, limit: number): readonly LogEntry[] | undefined {
    if (this.#last === undefined) return undefined
    const first = this.#last - this.#entries.length + 1
    const from = seq - first + 1
    if (from < 0) return undefined
    return this.#entries.slice(from, from + limit)
  }

  /** Others write from now on, or nobody does: the store alone knows. */
  forget(): void {
    this.#entries = []
    this.#length = 0
    this.#last = undefined
  }
}
