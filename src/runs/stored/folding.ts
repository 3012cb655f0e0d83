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
import type { Reader, Store, Transaction } from '../../stores/store.ts'
import { eventToJson } from '../event-json.ts'
import { lengthsToText } from './piece-lengths.ts'
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
export type Joined = readonly [position: number, count: number, lengths: string]

/** What is stored beside a folded log. */
export interface FoldedLog {
  readonly joined: readonly Joined[]
  /** Of the result, which is made from the log. Absent if the run has none. */
  readonly durationMs?: number | undefined
}

/** The member of an event that grows piece by piece; undefined if it has none. */
export function memberOf(event: RunEvent): 'text' | 'argumentsDelta' | undefined {
  const { type } = event
  if (type === 'tool_call_delta') return 'argumentsDelta'
  if (type === 'text' || type === 'thinking') return 'text'
  return type === 'step' && event.status === 'progress' && event.text !== undefined ? 'text' : undefined
}

/** The text of that member. */
export function textIn(event: RunEvent): string {
  const { text = '', argumentsDelta = text } = event as {
    readonly text?: string
    readonly argumentsDelta?: string
  }
  return argumentsDelta
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
    const member = memberOf(event)
    if (member === undefined) {
      this.end()
      this.entries.push(data)
      return
    }
    const text = textIn(event)
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

/** Ids of the runs whose time to be folded has come. */
export function foldable(tx: Reader, limit: number): string[] {
  return tx.expired<FoldedLog | null>(FOLDED, tx.now, limit).map(({ id }) => id)
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
  // The result leaves if the log gives the same.
  const result = kept && fold.result({ runId: id, durationMs: kept.durationMs })
  const isSame = kept && JSON.stringify(result) === JSON.stringify(kept)
  if (isSame) tx.delete(RESULTS, id)
  const value: FoldedLog = { joined, ...(isSame && { durationMs: kept.durationMs }) }
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

/** Milliseconds between two looks for logs to fold, and the most of them that one look folds. */
const LOOK_EVERY_MS = 60_000
const MAX_FOLDS = 1000

/** The parts of a host that a folder needs. */
export interface FolderParts {
  readonly store: Store
  readonly settings: { readonly piecesMs?: number | undefined }
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
    const isYoung = store.isShared && now - bornAt < piecesMs
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
