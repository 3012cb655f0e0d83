/**
 * The rows of documents that an object knows without a statement. Nobody else writes its database, so they are what it wrote or
 * read last. An object that was evicted from memory knows nothing at first.
 *
 * @module
 */

import { nameOf } from '../remote/known.ts'
import type { SqlRow } from '../sql/sql-driver.ts'

/** Most characters of all rows and their names. One isolate may have thousands of objects. */
const MAX_LENGTH = 65_536

/** Most characters of a row. */
const MAX_ROW_LENGTH = 16_384

/** The known rows. They hold JSON as text, so no two readers share an object. */
export class KnownRows {
  /** Rows by the name of their document: null if it does not exist. */
  readonly #rows = new Map<string, SqlRow | null>()
  #length = 0
  /** Numbers of documents by collection, or more, since deletions are not counted. */
  readonly #sizes = new Map<string, number>()
  /** Whether the rows that are not known do not exist. */
  #isWhole = false

  /** Notes that the table has just been made. */
  begin(): void {
    this.#isWhole = true
  }

  /** A row, or null if the document does not exist. Undefined if nothing is known. */
  get(collection: string, id: string): SqlRow | null | undefined {
    const row = this.#rows.get(nameOf(collection, id))
    return row === undefined && this.#isWhole ? null : row
  }

  set(collection: string, id: string, row: SqlRow | null): void {
    const name = nameOf(collection, id)
    const { length } = row === null ? name : `${name}${row.tags}${row.value}`
    if (length > MAX_ROW_LENGTH) {
      this.#isWhole = false
      this.#rows.delete(name)
      return
    }
    if (this.#length + length > MAX_LENGTH) this.#forgetRows()
    this.#length += length
    this.#rows.set(name, row)
  }

  /** Whether no other collections than these have documents, for certain. */
  isWithin(collections: readonly string[]): boolean {
    return this.#isWhole && [...this.#sizes.keys()].every(each => collections.includes(each))
  }

  /** The most documents that a collection may have. Undefined if that is not known. */
  sizeOf(collection: string): number | undefined {
    return this.#sizes.get(collection) ?? (this.#isWhole ? 0 : undefined)
  }

  setSize(collection: string, size: number): void {
    this.#sizes.set(collection, size)
  }

  /** Forgets everything, after a transaction was undone or all was deleted. */
  forget(): void {
    this.#forgetRows()
    this.#sizes.clear()
  }

  #forgetRows(): void {
    this.#isWhole = false
    this.#length = 0
    this.#rows.clear()
  }
}
