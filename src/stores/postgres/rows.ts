/**
 * Converts rows and answers between statements and values.
 *
 * @module
 */

import type {
  Commit,
  LogChange,
  StoreAnswers,
  StoreQueries,
  StoreQuery,
  Version,
  Versioned,
} from '../remote/remote.ts'
import { foldedText } from '../searched.ts'
import type { Document, Position, StoredLogEntry, Tags } from '../store.ts'
import { isDigested, restored, storedKey } from './text.ts'

/** Turns rows into one array for each of their members. Undefined if there are no rows. */
export function columns<T>(
  items: readonly T[],
  toRow: (item: T) => Readonly<Record<string, unknown>>,
): object | undefined {
  if (items.length === 0) return undefined
  const all: Record<string, unknown[]> = {}
  for (const item of items) {
    for (const [name, value] of Object.entries(toRow(item))) {
      all[name] ??= []
      all[name].push(value)
    }
  }
  return all
}

/** A log that a commit appends to, as it was before. */
export interface GrownLog extends LogChange {
  /** Undefined if there was no log. */
  readonly version: Version | undefined
  readonly length: number
}

/** The logs that a commit appends to. */
export function grownLogs({ seen, logs }: Pick<Commit, 'seen' | 'logs'>): GrownLog[] {
  const before = new Map(seen.logs.map(each => [each.log, each]))
  return logs
    .filter(({ entries }) => entries.length > 0)
    .map(each => {
      const { version, head } = before.get(each.log) ?? {}
      const length = each.isDeleted ? 0 : head?.length
      // An append has seen the end of the log.
      if (length === undefined) throw new TypeError(`Nobody has seen the log ${each.log}`)
      return { ...each, version, length }
    })
}

type DocumentRow = readonly [
  id: string,
  partition: string,
  at: number,
  expires: number | null,
  tags: Tags,
  value: string,
  version: string,
]

type LogRow = readonly [
  version: string,
  last: number,
  sealed: boolean,
  entries: readonly (readonly [number, string])[] | null,
]

/** The answer to a query. */
export function answerOf(ask: StoreQuery, json: unknown): StoreAnswers[keyof StoreQueries] {
  switch (ask.what) {
    case 'get':
      return json === null ? undefined : toVersioned(json as DocumentRow)
    case 'count':
      return Number(json)
    case 'countMatching': {
      const [count, isCut] = json as readonly [number, boolean]
      return { count, isCut }
    }
    case 'log':
      return toLog(json as LogRow | null)
    case 'search':
      return toFound(json as Parameters<typeof toFound>[0], ask)
    default:
      return ((json ?? []) as readonly DocumentRow[]).map(toVersioned)
  }
}

function toFound(
  [rows, last]: readonly [readonly DocumentRow[] | null, PositionRow | null],
  { limit }: StoreQueries['search'],
): StoreAnswers['search'] {
  const found = (rows ?? []).map(toVersioned)
  const documents = found.slice(0, limit)
  const end = found.length > limit ? documents.at(-1)?.document : positionOf(last)
  return { documents, next: end && { at: end.at, id: end.id } }
}

/**
 * The first character of a value that includes the keys of its document, since the stored keys were changed. JSON never begins
 * with it.
 */
const WITH_KEYS = '#'

/** The position of a document as {@link positionOf} reads it. */
export const POSITION: string = `json_build_array(at, id, CASE WHEN left(value, 1) = '${WITH_KEYS}' THEN value END)`

type PositionRow = readonly [at: number, id: string, kept: string | null]

function positionOf(row: PositionRow | null): Position | undefined {
  if (row === null) return undefined
  const [at, id, kept] = row
  return { at, id: kept === null ? restored(id) : withKeys(kept).id }
}

function withKeys(value: string): Pick<Document, 'id' | 'partition' | 'tags' | 'value'> {
  return JSON.parse(value.slice(WITH_KEYS.length))
}

/** A document as it is stored, without its collection and version. */
interface StoredRow {
  readonly id: string
  readonly partition: string
  readonly at: number
  readonly expires: number | null
  readonly tags: Tags
  readonly value: string
}

/**
 * The member beside the tags that holds the text by which a document is found. No tag has this name. Tags are always written as a whole, so
 * that an older process that replaces a document removes its text.
 */
const TEXT = '~text'

/** The columns of a document without its text. */
export const UNSEARCHED: string = `json_build_array(id, partition, at, expires, tags - '${TEXT}', value, version::text)`

/** The condition that the text of a document contains a folded term. There is no index: each text that a search looks at is read. */
export function textContains(term: string): string {
  return `strpos((tags->>'${TEXT}') COLLATE "C", ${term}) > 0`
}

/** Makes the row of a document. */
export function toRow({ id, partition, at, expiresAt, tags, value }: Document, given?: string): StoredRow {
  const text = foldedText(given)
  const keys = { id: storedKey(id), partition: storedKey(partition), tags: storedTags(tags) }
  const isWhole = ![keys.id, keys.partition, ...Object.values(keys.tags)].some(isDigested)
  return {
    ...{ ...keys, at, expires: expiresAt ?? null },
    ...(text !== undefined && { tags: { ...keys.tags, [TEXT]: text } }),
    value: isWhole ? JSON.stringify(value) : WITH_KEYS + JSON.stringify({ id, partition, tags, value }),
  }
}

function toVersioned([id, partition, at, expires, tags, value, version]: DocumentRow): Versioned {
  const kept = value.startsWith(WITH_KEYS)
    ? withKeys(value)
    : {
        ...{ id: restored(id), partition: restored(partition), tags: mapTags(withoutText(tags), restored) },
        value: JSON.parse(value),
      }
  return { version, document: { ...kept, at, ...(expires !== null && { expiresAt: expires }) } }
}

function toLog(row: LogRow | null): StoreAnswers['log'] {
  if (row === null) return { version: undefined, length: 0, isSealed: false, entries: [] }
  const [version, length, isSealed, entries] = row
  return {
    ...{ version, length, isSealed },
    entries: (entries ?? []).map(([seq, data]): StoredLogEntry => ({ seq, data: restored(data) })),
  }
}

function withoutText({ [TEXT]: _, ...tags }: Tags): Tags {
  return tags
}

/** Tags as they are stored. */
export function storedTags(tags: Tags): Tags {
  return mapTags(tags, storedKey)
}

/** Names of tags are letters and digits. */
function mapTags(tags: Tags, toText: (text: string) => string): Tags {
  return Object.fromEntries(Object.entries(tags).map(([name, value]) => [name, toText(value)]))
}
