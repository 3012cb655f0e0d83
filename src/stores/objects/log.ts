/**
 * The logs of a Durable Object. All entries that one transaction adds are one row.
 *
 * @module
 */

import { joinChunks, MAX_CHUNK_UNITS, splitChunks } from '../sql/rows.ts'
import type { StoredLogEntry } from '../store.ts'
import type { Tables } from './tables.ts'

/** Most entries of a row. */
const MAX_ENTRIES = 256

/** Most logs whose ends are kept in memory. An object has one log, or a few. */
const MAX_KNOWN = 64

/** The end of a log. */
interface End {
  readonly last: number
  readonly isSealed: boolean
}

/** Entries that have been added but not yet written. */
interface Row {
  readonly log: string
  readonly first: number
  readonly entries: string[]
  units: number
  /** Whether its last entry seals the log. */
  isSealed: boolean
}

/** The logs, for one transaction after another. */
export class ObjectLog {
  readonly #tables: Tables
  readonly #ends = new Map<string, End>()
  #row: Row | undefined

  constructor(tables: Tables) {
    this.#tables = tables
  }

  append(log: string, data: string, seal: boolean): number | undefined {
    const { last, isSealed } = this.#endOf(log)
    if (isSealed) return undefined
    const seq = last + 1
    this.#add(log, seq, data, seal)
    this.#setEnd(log, { last: seq, isSealed: seal })
    if (seal) this.flush()
    return seq
  }

  read(log: string, after: number, limit: number): StoredLogEntry[] {
    this.flush()
    if (limit <= 0 || !this.#tables.has('object_log')) return []
    const rows = this.#tables.all(
      'SELECT first, last, lengths, data FROM object_log WHERE log = ? AND last > ? AND last < ? ORDER BY last, part',
      log,
      after,
      Math.min(after + limit + MAX_ENTRIES, Number.MAX_SAFE_INTEGER),
    )
    const pieces = rows.flatMap(({ first, lengths, data }) =>
      cut(String(data), String(lengths)).map((text, index) => ({ seq: Number(first) + index, data: text })),
    )
    return joinChunks(pieces).filter(({ seq }) => seq > after && seq <= after + limit)
  }

  length(log: string): number {
    return this.#endOf(log).last
  }

  isSealed(log: string): boolean {
    return this.#endOf(log).isSealed
  }

  delete(log: string): void {
    this.flush()
    this.#ends.delete(log)
    if (this.#tables.has('object_log')) this.#tables.all('DELETE FROM object_log WHERE log = ?', log)
  }

  /** Writes the added entries. Call it before the transaction ends and before each read. */
  flush(): void {
    const row = this.#row
    if (row === undefined) return
    this.#row = undefined
    this.#tables.make('object_log')
    const { log, first, entries, isSealed } = row
    const last = first + entries.length - 1
    const lengths = entries.length === 1 ? '' : entries.map(({ length }) => length).join()
    for (const [part, data] of splitChunks(entries.join('')).entries()) {
      this.#tables.all(
        'INSERT INTO object_log (log, last, part, first, sealed, lengths, data) VALUES (?, ?, ?, ?, ?, ?, ?)',
        log,
        last,
        part,
        first,
        isSealed ? 1 : 0,
        lengths,
        data,
      )
    }
  }

  /** Drops the added entries, after the transaction was undone. */
  forget(): void {
    this.#row = undefined
    this.#ends.clear()
  }

  /** Adds an entry to the open row, or begins another row. An entry that is too large for a row has rows of its own. */
  #add(log: string, seq: number, data: string, isSealed: boolean): void {
    const row = this.#row
    if (row?.log === log && row.entries.length < MAX_ENTRIES && row.units + data.length <= MAX_CHUNK_UNITS) {
      row.entries.push(data)
      row.units += data.length
      row.isSealed = isSealed
      return
    }
    this.flush()
    this.#row = { log, first: seq, entries: [data], units: data.length, isSealed }
  }

  #endOf(log: string): End {
    const known = this.#ends.get(log)
    if (known !== undefined) return known
    const end = this.#readEnd(log)
    this.#setEnd(log, end)
    return end
  }

  #readEnd(log: string): End {
    if (!this.#tables.has('object_log')) return { last: 0, isSealed: false }
    const [row] = this.#tables.all(
      'SELECT last, sealed FROM object_log WHERE log = ? ORDER BY last DESC LIMIT 1',
      log,
    )
    return { last: Number(row?.last ?? 0), isSealed: row?.sealed === 1 }
  }

  #setEnd(log: string, end: End): void {
    if (this.#ends.size >= MAX_KNOWN) {
      this.flush()
      this.#ends.clear()
    }
    this.#ends.set(log, end)
  }
}

/** Splits a row into its entries. */
function cut(data: string, lengths: string): string[] {
  if (lengths === '') return [data]
  let at = 0
  return lengths.split(',').map(length => {
    const from = at
    at += Number(length)
    return data.slice(from, at)
  })
}
