/**
 * The texts of documents, and which of them may contain a term.
 *
 * Each text has a number. For each 256 of them there is a block of bits, made when the last of them is written: for each of 4,096 hashes of
 * three characters, which of the texts have characters with that hash. A term is in none of the texts that lack one of its hashes. The
 * texts that are left are read and compared. A text costs 64 bytes in its block, and the block is written at once, so this costs less than an
 * entry for each three characters of each text would.
 *
 * @module
 */

import { containing, folded, foldedText } from '../searched.ts'
import type { SqlDriver, SqlRow } from './sql-driver.ts'

/** Makes texts shorter for the database. */
export interface TextCodec {
  pack(text: string): string | Uint8Array
  unpack(packed: string | Uint8Array): string
}

/** Texts as they are. */
export const UNPACKED: TextCodec = { pack: text => text, unpack: String }

/**
 * The tables of texts. They are no version of the schema, since older versions may go on to write the file: triggers remove the text of what
 * they write.
 */
export const TEXT_TABLES: readonly string[] = [
  `CREATE TABLE texts (
    number INTEGER PRIMARY KEY,
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    text BLOB NOT NULL
  )`,
  'CREATE UNIQUE INDEX texts_by_document ON texts (collection, id)',
  'CREATE TABLE text_bits (part INTEGER PRIMARY KEY, bits BLOB NOT NULL)',
  ...['INSERT', 'UPDATE', 'DELETE'].map(act => {
    const row = act === 'DELETE' ? 'old' : 'new'
    const gone = `DELETE FROM texts WHERE collection = ${row}.collection AND id = ${row}.id`
    return `CREATE TRIGGER texts_after_${act.toLowerCase()} AFTER ${act} ON documents BEGIN ${gone}; END`
  }),
]

/** Texts of a block, and the bytes of their bits for one hash. */
const BLOCK = 256
const BYTES = BLOCK / 8
/** Hashes, and how many of them a row of bits has. */
const HASHES = 4096
const PER_PART = 16
const PARTS = HASHES / PER_PART

/** The number of the next text: after all others, and after those of all blocks, whose bits stay when texts are deleted. */
const NEXT =
  'MAX(coalesce((SELECT MAX(number) + 1 FROM texts), 0),' +
  ` coalesce((SELECT (MAX(part) / ${PARTS} + 1) * ${BLOCK} FROM text_bits), 0))`

/** The most hashes of a term that are looked up. */
const MAX_LOOKED_UP = 8

/** The most texts that are read by their numbers. A term that more may contain is looked for in the newest documents. */
const MAX_CANDIDATES = 2000

/** Reads and writes texts inside transactions. */
export class SqlTexts {
  readonly #sql: SqlDriver
  readonly #codec: TextCodec

  constructor(sql: SqlDriver, codec: TextCodec) {
    this.#sql = sql
    this.#codec = codec
  }

  /** Stores the text of a document that was just written. That has removed an earlier one. */
  put(collection: string, id: string, given: string | undefined): void {
    const text = foldedText(given)
    if (text === undefined) return
    const [row] = this.#sql.all(
      `INSERT INTO texts (number, collection, id, text) VALUES (${NEXT}, ?, ?, ?) RETURNING number`,
      ...[collection, id, this.#codec.pack(text)],
    )
    const number = Number(row?.number)
    if (number % BLOCK === BLOCK - 1) this.#build(number - BLOCK + 1)
  }

  /** Makes the function that says whether the text of a row, in the column `text`, contains a term. */
  matcher(term: string): (row: SqlRow) => boolean {
    const contains = containing(term)
    return ({ text }) => text !== null && contains(this.#codec.unpack(text as string | Uint8Array))
  }

  /** The numbers of all texts that may contain a term. Undefined if it is too short, or too many may. */
  candidates(term: string): readonly number[] | undefined {
    const hashes = someOf(folded(term))
    if (hashes.length === 0) return undefined
    const [row] = this.#sql.all('SELECT MIN(part) AS first, MAX(part) AS built FROM text_bits')
    const from = this.#unbuilt(row)
    // The newest texts are in no block. They are few, so they are compared.
    const newest = this.#sql.all('SELECT number, text FROM texts WHERE number >= ?', from)
    const found = newest.filter(this.matcher(term)).map(({ number }) => Number(number))
    const first = row?.first === null ? from : Math.floor(Number(row?.first) / PARTS) * BLOCK
    for (let block = from - BLOCK; block >= first; block -= BLOCK) {
      addBits(found, block, this.#bitsOf(block, hashes))
      if (found.length > MAX_CANDIDATES) return undefined
    }
    return found
  }

  /** The number of the first text that is in no block. */
  #unbuilt(row: SqlRow | undefined): number {
    const built = row?.built ?? null
    return built === null ? 0 : (Math.floor(Number(built) / PARTS) + 1) * BLOCK
  }

  /** The bits that a block has for all of the hashes. */
  #bitsOf(block: number, hashes: readonly number[]): Uint8Array {
    const parts = hashes.map(hash => (block / BLOCK) * PARTS + Math.floor(hash / PER_PART))
    const rows = this.#sql.all(
      'SELECT part, bits FROM text_bits WHERE part IN (SELECT value FROM json_each(?))',
      JSON.stringify(parts),
    )
    const bits = new Map(rows.map(({ part, bits }) => [Number(part), bits as Uint8Array]))
    const all = new Uint8Array(BYTES).fill(0xff)
    for (const [at, hash] of hashes.entries()) {
      const own = bits.get(parts[at]!)
      const start = (hash % PER_PART) * BYTES
      for (let byte = 0; byte < BYTES; byte++) all[byte]! &= own?.[start + byte] ?? 0
    }
    return all
  }

  /** Makes the bits of a block, and deletes those of blocks whose texts are gone. */
  #build(block: number): void {
    const rows = this.#sql.all(
      'SELECT number, text FROM texts WHERE number >= ? AND number < ?',
      ...[block, block + BLOCK],
    )
    const bits = new Uint8Array(HASHES * BYTES)
    for (const { number, text } of rows) {
      const at = Number(number) - block
      const unpacked = this.#codec.unpack(text as string | Uint8Array)
      for (let end = 2; end < unpacked.length; end++)
        bits[hashAt(unpacked, end) * BYTES + (at >> 3)]! |= 1 << (at & 7)
    }
    const first = (block / BLOCK) * PARTS
    for (let part = 0; part < PARTS; part++) {
      const from = part * PER_PART * BYTES
      this.#sql.run(
        'INSERT OR REPLACE INTO text_bits (part, bits) VALUES (?, ?)',
        ...[first + part, bits.subarray(from, from + PER_PART * BYTES)],
      )
    }
    this.#sql.run(`DELETE FROM text_bits WHERE part < (SELECT MIN(number) / ${BLOCK} FROM texts) * ${PARTS}`)
  }
}

/** Adds the numbers of a block's texts whose bits are set. */
function addBits(found: number[], block: number, bits: Uint8Array): void {
  for (const [at, byte] of bits.entries()) {
    if (byte === 0) continue
    for (let bit = 0; bit < 8; bit++) if (byte & (1 << bit)) found.push(block + at * 8 + bit)
  }
}

/** The hash of the three characters that end at a position. */
function hashAt(text: string, end: number): number {
  const first = Math.imul(text.charCodeAt(end - 2), 0x9e3779b1)
  const second = Math.imul(first ^ text.charCodeAt(end - 1), 0x85ebca6b)
  return Math.imul(second ^ text.charCodeAt(end), 0xc2b2ae35) >>> 20
}

/** Some of the hashes of a folded term, from all over it. */
function someOf(term: string): number[] {
  const count = Math.min(Math.max(term.length - 2, 0), MAX_LOOKED_UP)
  const step = (term.length - 2) / MAX_LOOKED_UP
  const hashes = Array.from({ length: count }, (_, at) =>
    hashAt(term, 2 + Math.floor(at * Math.max(step, 1))),
  )
  return [...new Set(hashes)]
}
