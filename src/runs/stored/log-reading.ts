/**
 * Reads a log, folded or not, with the numbers that its events had.
 *
 * @module
 */

import type { RunEvent } from '../../agents/contract.ts'
import type { Reader, StoredLogEntry } from '../../stores/store.ts'
import { eventToJson } from '../event-json.ts'
import { FOLDED, type FoldedLog, type Joined, memberOf, textIn } from './folding.ts'
import { lengthsIn } from './piece-lengths.ts'

/** A part of a log. */
export interface LogPart {
  readonly entries: readonly StoredLogEntry[]
  /** Whether nothing comes after them. */
  readonly isLast: boolean
}

/** A place in a folded log. */
interface Place {
  /** The entry of the folded log after which it is. */
  readonly from: number
  /** The joined entry that comes next, as an index. */
  readonly next: number
  /** The pieces of that entry which come before the place. */
  readonly given: number
  /** How many more events than entries there were before that entry. */
  readonly more: number
}

/**
 * Reads a log, which may be folded between two reads. Gives joined entries as they are, or `inPieces` as they were: streams count them.
 */
export class LogReading {
  readonly #log: string
  readonly #inPieces: boolean
  /** Set once the log was seen folded: it stays so. */
  #joined: readonly Joined[] | undefined

  constructor(log: string, inPieces: boolean) {
    this.#log = log
    this.#inPieces = inPieces
  }

  /** Reads at most `limit` entries after one. */
  read(tx: Reader, after: number, limit: number): LogPart {
    if (this.#joined !== undefined) return this.#readFolded(tx, this.#joined, after, limit)
    const entries = tx.read(this.#log, after, limit)
    if (!tx.isSealed(this.#log)) return { entries, isLast: false }
    this.#joined = tx.get<FoldedLog | null>(FOLDED, this.#log)?.value?.joined
    if (this.#joined !== undefined) return this.#readFolded(tx, this.#joined, after, limit)
    return { entries, isLast: (entries.at(-1)?.seq ?? after) >= tx.length(this.#log) }
  }

  #readFolded(tx: Reader, joined: readonly Joined[], after: number, limit: number): LogPart {
    const place = placeAfter(joined, after)
    let { next, more, given } = place
    const rows = tx.read(this.#log, place.from, this.#inPieces ? rowsFor(limit, joined, place) : limit)
    const entries: StoredLogEntry[] = []
    for (const { seq, data } of rows) {
      const own = joined[next]
      if (own?.[0] !== seq) {
        entries.push({ seq: seq + more, data })
        continue
      }
      const [, count, lengths] = own
      // One more than is wanted shows that it is not the last.
      const told = this.#told({ seq: seq + more, data }, lengths, given, given + limit + 1)
      for (const entry of told) entries.push(entry)
      more += count - 1
      given = 0
      next++
    }
    const last = rows.at(-1)?.seq
    const isLast = (last === undefined || last >= tx.length(this.#log)) && entries.length <= limit
    return { entries: entries.slice(0, limit), isLast }
  }

  /** A joined entry without its first pieces, and in pieces also without those from `end` on. `seq` is the number of its first piece. */
  #told({ seq, data }: StoredLogEntry, lengths: string, given: number, end: number): StoredLogEntry[] {
    const all = lengthsIn(lengths)
    if (this.#inPieces)
      return piecesOf(data, all, given, end).map((piece, index) => ({
        seq: seq + given + index,
        data: piece,
      }))
    return [{ seq: seq + all.length - 1, data: given > 0 ? restOf(data, all, given) : data }]
  }
}

/** The place after an event. */
function placeAfter(joined: readonly Joined[], after: number): Place {
  let more = 0
  let next = 0
  for (const [position, count] of joined) {
    if (position + more + count - 1 > after) break
    more += count - 1
    next++
  }
  const [position = Number.POSITIVE_INFINITY] = joined[next] ?? []
  const given = Math.max(0, after - (position + more - 1))
  return { from: given > 0 ? position - 1 : after - more, next, given, more }
}

/** The number of entries after a place that hold so many pieces. */
function rowsFor(pieces: number, joined: readonly Joined[], { from, next, given }: Place): number {
  let at = next
  let found = -given
  let rows = 0
  while (found < pieces) {
    rows++
    const [position, count = 1] = joined[at] ?? []
    const isJoined = position === from + rows
    found += isJoined ? count : 1
    if (isJoined) at++
  }
  return rows
}

/** The characters before a piece. */
const charactersBefore = (lengths: readonly number[], piece: number): number =>
  lengths.slice(0, piece).reduce((sum, length) => sum + length, 0)

/** A joined entry without its first pieces. */
function restOf(data: string, lengths: readonly number[], given: number): string {
  const event = JSON.parse(data) as RunEvent
  const text = textIn(event).slice(charactersBefore(lengths, given))
  return eventToJson({ ...event, [memberOf(event) ?? 'text']: text })
}

/** Some pieces of a joined entry. The time of each but the last is that of the first. */
function piecesOf(data: string, lengths: readonly number[], from: number, end: number): string[] {
  const { until, ...event } = JSON.parse(data) as RunEvent
  const text = textIn(event)
  const member = memberOf(event) ?? 'text'
  let at = charactersBefore(lengths, from)
  return lengths.slice(from, end).map((length, index) => {
    const piece = text.slice(at, at + length)
    at += length
    const time = from + index === lengths.length - 1 && until !== undefined ? { at: until } : {}
    return eventToJson({ ...event, [member]: piece, ...time })
  })
}
