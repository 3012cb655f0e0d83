/**
 * Folds the log of an ended run: pieces of one text become one event, and the result leaves, since the log has it. The numbers of the
 * events stay as they were, so that a client may go on after any piece.
 *
 * @module
 */

import type { RunEvent, RunResult } from '../../agents/contract.ts'
import { Fold } from '../../agents/fold.ts'
import { later } from '../../base/wake.ts'
import { readLog } from '../../stores/read-log.ts'
import type { LocalParts } from '../../stores/state.ts'
import type { Reader, Store, StoredLogEntry, Transaction } from '../../stores/store.ts'
import { eventToJson } from '../event-json.ts'
import type { HostSettings } from './host.ts'
import { lengthsIn, lengthsToText } from './piece-lengths.ts'
import { RESULTS, RUNS, type StoredRun } from './record.ts'

/** The collection of folded logs, and of those that will be: such a document has no value yet, and expires when it is time. */
export const FOLDED = 'folded'

/** A log with fewer bytes stays as it is: a fold is a commit. */
const MIN_BYTES = 4096

/** The most characters that pieces are joined to: an entry is read as a whole, for each of its pieces. */
const MAX_JOINED = 8192

/** Fewer pieces are not joined, so that what is stored of them is never more than they were. */
const MIN_PIECES = 4

/** An entry that several pieces were joined to: its position in the folded log from 1, their number, and their lengths. */
type Joined = readonly [position: number, count: number, lengths: string]

/** What is stored beside a folded log. */
export interface FoldedLog {
  readonly joined: readonly Joined[]
  /** Of the result, which is made from the log. Absent if the run has none. */
  readonly durationMs?: number | undefined
}

/** The member of an event that grows piece by piece; undefined if it has none. */
function growing(event: RunEvent): 'text' | 'argumentsDelta' | undefined {
  const { type } = event
  if (type === 'tool_call_delta') return 'argumentsDelta'
  if (type === 'text' || type === 'thinking') return 'text'
  return type === 'step' && event.status === 'progress' && event.text !== undefined ? 'text' : undefined
}

/** Pieces that follow each other and differ in their text and time alone. */
interface Pieces {
  readonly key: string
  readonly first: RunEvent
  readonly member: 'text' | 'argumentsDelta'
  readonly texts: string[]
  readonly raw: string[]
  length: number
  lastAt: number | undefined
}

/** Joins the entries of a log. */
class Joining {
  readonly entries: string[] = []
  readonly joined: Joined[] = []
  #pieces: Pieces | undefined

  add(data: string, event: RunEvent): void {
    const member = growing(event)
    if (member === undefined) {
      this.end()
      this.entries.push(data)
      return
    }
    const text = String((event as Partial<Record<typeof member, unknown>>)[member])
    const key = JSON.stringify({ ...event, [member]: '', at: undefined })
    if (this.#pieces?.key !== key || this.#pieces.length + text.length > MAX_JOINED) this.end()
    this.#pieces ??= { key, first: event, member, texts: [], raw: [], length: 0, lastAt: undefined }
    this.#pieces.texts.push(text)
    this.#pieces.raw.push(data)
    this.#pieces.length += text.length
    this.#pieces.lastAt = event.at
  }

  end(): void {
    const pieces = this.#pieces
    this.#pieces = undefined
    if (pieces === undefined) return
    const { first, member, texts, raw, lastAt } = pieces
    if (raw.length < MIN_PIECES) {
      for (const data of raw) this.entries.push(data)
      return
    }
    const until = lastAt === undefined ? {} : { until: lastAt }
    this.entries.push(eventToJson({ ...first, [member]: texts.join(''), ...until }))
    this.joined.push([this.entries.length, raw.length, lengthsToText(texts.map(({ length }) => length))])
  }
}

/** Marks the log of a run that has just ended, to be folded after `piecesMs`. A small one is not marked. */
export function markForFold(tx: Transaction, id: string, bytes: number, piecesMs: number | undefined): void {
  if (bytes < MIN_BYTES || piecesMs === undefined) return
  const mark = { id, partition: '', at: tx.now, tags: {}, expiresAt: tx.now + piecesMs, value: null }
  tx.put(FOLDED, mark, { thing: id })
}

/** Ids of the runs whose time to be folded has come, and of those that wait for it, if `isEarly`. */
export function foldable(tx: Reader, limit: number, isEarly = false): string[] {
  const until = isEarly ? Number.MAX_SAFE_INTEGER : tx.now
  return tx.expired<FoldedLog | null>(FOLDED, until, limit).map(({ id }) => id)
}

/** Folds the log of a run that is marked. Does nothing for one that is folded, and forgets the mark of one that is gone. */
export function foldRun(tx: Transaction, id: string): void {
  if (tx.get<FoldedLog | null>(FOLDED, id)?.value !== null) return
  const run = tx.get<StoredRun>(RUNS, id)?.value
  if (run === undefined || !tx.isSealed(id)) return tx.delete(FOLDED, id)
  const kept = tx.get<RunResult>(RESULTS, id)?.value
  const joining = new Joining()
  const fold = new Fold(Number.POSITIVE_INFINITY)
  for (const { data } of readLog(tx, id)) {
    const event = JSON.parse(data) as RunEvent
    fold.add(event)
    joining.add(data, event)
  }
  joining.end()
  const { entries, joined } = joining
  if (joined.length > 0) {
    tx.deleteLog(id)
    for (const [index, data] of entries.entries()) tx.append(id, data, index === entries.length - 1)
  }
  const durationMs = kept?.durationMs
  // The result leaves if the log gives the same.
  const isSame =
    durationMs !== undefined && JSON.stringify(fold.result({ runId: id, durationMs })) === JSON.stringify(kept)
  if (isSame) tx.delete(RESULTS, id)
  const value: FoldedLog = { joined, ...(isSame && { durationMs }) }
  tx.put(FOLDED, { id, partition: '', at: tx.now, tags: {}, value }, { thing: id })
}

/** The result of a run whose log is folded; undefined if it is stored apart, or there is none. */
export function foldedResult(tx: Reader, id: string): RunResult | undefined {
  const { durationMs } = tx.get<FoldedLog | null>(FOLDED, id)?.value ?? {}
  if (durationMs === undefined) return undefined
  const fold = new Fold(Number.POSITIVE_INFINITY)
  for (const { data } of readLog(tx, id)) fold.add(JSON.parse(data) as RunEvent)
  return fold.result({ runId: id, durationMs })
}

/** A part of a log. */
export interface LogPart {
  readonly entries: readonly StoredLogEntry[]
  /** Whether nothing comes after them. */
  readonly isLast: boolean
}

/**
 * Reads a log, which may be folded between two reads. Gives joined entries as they are, or `inPieces` as they were: streams count them.
 */
export class LogReading {
  readonly #log: string
  readonly #inPieces: boolean
  /** Set once the log was seen folded: it stays so. */
  #folded: FoldedLog | undefined

  constructor(log: string, inPieces: boolean) {
    this.#log = log
    this.#inPieces = inPieces
  }

  /** Reads at most `limit` entries after one. */
  read(tx: Reader, after: number, limit: number): LogPart {
    if (this.#folded !== undefined) return this.#readFolded(tx, this.#folded.joined, after, limit)
    const entries = tx.read(this.#log, after, limit)
    if (!tx.isSealed(this.#log)) return { entries, isLast: false }
    this.#folded = tx.get<FoldedLog | null>(FOLDED, this.#log)?.value ?? undefined
    if (this.#folded !== undefined) return this.#readFolded(tx, this.#folded.joined, after, limit)
    return { entries, isLast: (entries.at(-1)?.seq ?? after) >= tx.length(this.#log) }
  }

  #readFolded(tx: Reader, joined: readonly Joined[], after: number, limit: number): LogPart {
    // So many pieces more than entries came before the joined entry `next`.
    let more = 0
    let next = 0
    for (; next < joined.length; next++) {
      const [position, count] = joined[next] as Joined
      if (position + more + count - 1 > after) break
      more += count - 1
    }
    const [position = Number.POSITIVE_INFINITY] = joined[next] ?? []
    // Its pieces that were given before.
    const given = Math.max(0, after - (position + more - 1))
    const from = given > 0 ? position - 1 : after - more
    const rows = tx.read(this.#log, from, this.#inPieces ? rowsFor(limit + given, joined, next, from) : limit)
    const entries: StoredLogEntry[] = []
    for (const { seq, data } of rows) {
      const [at, count = 1, lengths = ''] = joined[next] ?? []
      if (seq !== at) {
        entries.push({ seq: seq + more, data })
        continue
      }
      const before = seq === position ? given : 0
      if (this.#inPieces) {
        const pieces = piecesOf(data, lengths).map((piece, index) => ({ seq: seq + more + index, data: piece }))
        for (const piece of pieces.slice(before)) entries.push(piece)
      } else entries.push({ seq: seq + more + count - 1, data: before > 0 ? restOf(data, lengths, before) : data })
      more += count - 1
      next++
    }
    const last = rows.at(-1)?.seq
    const isLast = (last === undefined || last >= tx.length(this.#log)) && entries.length <= limit
    return { entries: entries.slice(0, limit), isLast }
  }
}

/** The number of rows after `from` that hold so many pieces. */
function rowsFor(pieces: number, joined: readonly Joined[], from: number, after: number): number {
  let next = from
  let found = 0
  let rows = 0
  while (found < pieces) {
    rows++
    const [at, count] = joined[next] ?? []
    if (at === after + rows) next++
    found += at === after + rows && count !== undefined ? count : 1
  }
  return rows
}

/** The text of a joined entry, and its event. */
function textIn(data: string): { event: RunEvent; member: 'text' | 'argumentsDelta'; text: string } {
  const event = JSON.parse(data) as RunEvent
  const member = growing(event) ?? 'text'
  return { event, member, text: String((event as Partial<Record<typeof member, unknown>>)[member]) }
}

/** A joined entry without its first pieces. */
function restOf(data: string, lengths: string, given: number): string {
  const { event, member, text } = textIn(data)
  return eventToJson({ ...event, [member]: text.slice(sumOf(lengthsIn(lengths).slice(0, given))) })
}

/** The pieces of a joined entry. The time of each but the last is that of the first. */
function piecesOf(data: string, lengths: string): string[] {
  const { event, member, text } = textIn(data)
  const { until, ...first } = event
  const all = lengthsIn(lengths)
  let at = 0
  return all.map((length, index) => {
    const piece = text.slice(at, at + length)
    at += length
    const time = index === all.length - 1 && until !== undefined ? { at: until } : {}
    return eventToJson({ ...first, [member]: piece, ...time } as RunEvent)
  })
}

const sumOf = (lengths: readonly number[]) => lengths.reduce((sum, length) => sum + length, 0)

/** Milliseconds between two looks for logs to fold, and the most of them that one look folds. */
const LOOK_EVERY_MS = 60_000
const MAX_FOLDS = 1000

/** The parts of a host that a folder needs. */
export interface FolderParts {
  readonly store: Store
  readonly settings: Pick<HostSettings, 'piecesMs'>
  readonly keepOpen?: LocalParts['keepOpen'] | undefined
}

/**
 * Makes the function that folds what is due. Call it where a run begins: no timer does. Nobody waits for it. On a shared store it folds
 * nothing before the process is `piecesMs` old: a process of an older version, which cannot read it, has ended by then.
 */
export function createFolder({ store, settings: { piecesMs }, keepOpen }: FolderParts): () => void {
  const bornAt = Date.now()
  let lookedAt = Number.NEGATIVE_INFINITY
  let isFolding = false
  return () => {
    if (piecesMs === undefined || isFolding) return
    const now = Date.now()
    const isYoung = store.isShared === true && now - bornAt < piecesMs
    if (isYoung || Math.abs(now - lookedAt) < Math.min(LOOK_EVERY_MS, piecesMs)) return
    lookedAt = now
    isFolding = true
    const release = keepOpen?.()
    void foldAll(store)
      // The next look folds what is left.
      .catch(() => {})
      .finally(() => {
        isFolding = false
        return release?.()
      })
  }
}

async function foldAll(store: Store): Promise<void> {
  const ids = await store.read(tx => foldable(tx, MAX_FOLDS))
  for (const id of ids) {
    await store.write(tx => foldRun(tx, id))
    // A store of this process answers at once. Others have their turn in between.
    await later(0)
  }
}
