/**
 * PostgreSQL as a store that answers later (decision 31): all questions of a look are one statement, which sees one moment, and a
 * commit is one call of a function.
 *
 * @module
 */

import type { Answers, Ask, Asks, Commit, Far, Versioned } from '../../state/far.ts'
import type { Filter, ListQuery, LogEntry, Place, Tags } from '../../state/store.ts'
import type { PostgresDriver } from './driver.ts'
import { restored, stored } from './text.ts'

/** The largest limit that a statement takes. */
const MAX_LIMIT = 2 ** 31 - 1

/** Makes it. `prepare` is awaited before each request. `s` is the schema as statements name it. */
export function postgresFar(driver: PostgresDriver, s: string, prepare: () => Promise<void>): Far {
  let ahead = 0
  return {
    now: () => Date.now() + ahead,
    async look(asks) {
      await prepare()
      const statement = new Statement(s)
      const columns = asks.map((ask, at) => `${statement.answerTo(ask)} AS "${at}"`)
      const text = `SELECT ${[CLOCK, ...columns].join(',\n')}`
      const [row = {}] = await driver.query(text, statement.values)
      ahead = Number(row.clock) - Date.now()
      return asks.map((ask, at) => answerOf(ask, row[at]))
    },
    async commit(commit) {
      await prepare()
      const [row] = await driver.query(`SELECT ${s}.commit_1($1::text) AS is`, [
        JSON.stringify(toJson(commit)),
      ])
      return row?.is === true
    },
  }
}

const CLOCK = 'extract(epoch FROM clock_timestamp()) * 1000 AS clock'

const DOCUMENT = 'json_build_array(id, partition, at, expires, tags, value, version::text)'
const NEWEST = 'ORDER BY at DESC, id DESC'

/** A statement that is being written, with its parameters. */
class Statement {
  readonly values: (string | number)[] = []
  readonly #s: string

  constructor(s: string) {
    this.#s = s
  }

  /** A part of the statement that answers a question with JSON. */
  answerTo(ask: Ask): string {
    switch (ask.what) {
      case 'get':
        return `(SELECT ${DOCUMENT} ${this.#from(ask)} AND id = ${this.#text(ask.id)})`
      case 'list':
        return many(`SELECT ${DOCUMENT} AS j ${this.#in(ask)} ${NEWEST} LIMIT ${this.#limit(ask.limit)}`)
      case 'search':
        return this.#search(ask)
      case 'count':
        return `(SELECT to_json(count(*)) ${ask.partition === undefined ? this.#from(ask) : this.#of(ask.collection, ask.partition)})`
      case 'countMatching':
        return `(WITH looked AS (${this.#looked(ask)}) SELECT to_json(count(*)) FROM looked ${this.#tagged(ask.tags)})`
      case 'withPrefix': {
        const [from, to] = [this.#text(ask.prefix), this.#text(`${ask.prefix}\u{10ffff}`)]
        const limit = this.#limit(ask.limit)
        return many(
          `SELECT ${DOCUMENT} AS j ${this.#from(ask)} AND id >= ${from} AND id < ${to} ORDER BY id LIMIT ${limit}`,
        )
      }
      case 'expired': {
        const [now, limit] = [this.#number(ask.now), this.#limit(ask.limit)]
        return many(
          `SELECT ${DOCUMENT} AS j ${this.#from(ask)} AND expires <= ${now} ORDER BY expires LIMIT ${limit}`,
        )
      }
      case 'oldest': {
        const { collection, partition, limit } = ask
        const from = partition === undefined ? this.#from(ask) : this.#of(collection, partition)
        return many(`SELECT ${DOCUMENT} AS j ${from} ORDER BY at, id LIMIT ${this.#limit(limit)}`)
      }
      case 'log':
        return this.#log(ask)
    }
  }

  #log({ log, after, limit }: Asks['log']): string {
    const [first, count] = [this.#number(after), this.#number(Math.min(limit, MAX_LIMIT))]
    const entries =
      `(SELECT json_agg(json_build_array(seq, data) ORDER BY seq) FROM ${this.#s}.entries e` +
      ` WHERE e.log = l.log AND seq > ${first} AND seq <= ${first} + ${count})`
    return (
      `(SELECT json_build_array(version::text, last, sealed, ${entries})` +
      ` FROM ${this.#s}.logs l WHERE log = ${this.#text(log)})`
    )
  }

  #search(ask: Asks['search']): string {
    const matching = `SELECT ${DOCUMENT} AS j FROM looked ${this.#tagged(ask.tags)} ${NEWEST} LIMIT ${this.#limit(ask.limit + 1)}`
    return (
      `(WITH looked AS (${this.#looked(ask)}) SELECT json_build_array(${many(matching)}, (SELECT count(*) FROM looked),` +
      ' (SELECT json_build_array(at, id) FROM looked ORDER BY at, id LIMIT 1)))'
    )
  }

  /** The documents that a search looks at. */
  #looked(ask: { readonly collection: string } & Filter & Pick<Partial<ListQuery>, 'after'>): string {
    const since = ask.since === undefined ? '' : ` AND at >= ${this.#number(ask.since)}`
    return `SELECT * ${this.#in(ask)}${since} ${NEWEST} LIMIT ${this.#limit(ask.looks)}`
  }

  #tagged(tags: Tags = {}): string {
    const wanted = Object.entries(tags).map(tag => this.#text(tagText(tag)))
    return wanted.length === 0 ? '' : `WHERE tags @> ARRAY[${wanted.join(', ')}]`
  }

  #in({ collection, partition, after }: { readonly collection: string } & Omit<ListQuery, 'limit'>): string {
    const from = this.#of(collection, partition)
    return after === undefined
      ? from
      : `${from} AND (at, id) < (${this.#number(after.at)}, ${this.#text(after.id)})`
  }

  #of(collection: string, partition: string): string {
    return `${this.#from({ collection })} AND partition = ${this.#text(partition)}`
  }

  #from({ collection }: { readonly collection: string }): string {
    return `FROM ${this.#s}.documents WHERE collection = ${this.#text(collection)}`
  }

  #text(text: string): string {
    return `$${this.values.push(stored(text))}::text`
  }

  #number(number: number): string {
    return `$${this.values.push(number)}::float8`
  }

  #limit(limit: number): string {
    return `${this.#number(Math.min(limit, MAX_LIMIT))}::bigint`
  }
}

/** Rows in their order, as a list. */
function many(rows: string): string {
  return `(SELECT json_agg(j) FROM (${rows}) rows)`
}

type DocumentRow = readonly [
  id: string,
  partition: string,
  at: number,
  expires: number | null,
  tags: readonly string[],
  value: string,
  version: string,
]

type LogRow = readonly [
  version: string,
  last: number,
  sealed: boolean,
  entries: readonly (readonly [number, string])[] | null,
]

function answerOf(ask: Ask, json: unknown): Answers[keyof Asks] {
  switch (ask.what) {
    case 'get':
      return json === null ? undefined : toVersioned(json as DocumentRow)
    case 'count':
    case 'countMatching':
      return Number(json)
    case 'log':
      return toLog(json as LogRow | null)
    case 'search':
      return toFound(json as Parameters<typeof toFound>[0], ask)
    default:
      return ((json ?? []) as readonly DocumentRow[]).map(toVersioned)
  }
}

function toFound(
  [rows, looked, last]: readonly [readonly DocumentRow[] | null, number, readonly [number, string] | null],
  { limit, looks }: Asks['search'],
): Answers['search'] {
  const found = (rows ?? []).map(toVersioned)
  const documents = found.slice(0, limit)
  const end = found.length > limit ? documents.at(-1)?.document : looked >= looks ? placeOf(last) : undefined
  return { documents, next: end && { at: end.at, id: end.id } }
}

function placeOf(row: readonly [number, string] | null): Place | undefined {
  return row === null ? undefined : { at: row[0], id: restored(row[1]) }
}

function toVersioned([id, partition, at, expires, tags, value, version]: DocumentRow): Versioned {
  return {
    version,
    document: {
      id: restored(id),
      partition: restored(partition),
      at,
      ...(expires !== null && { expiresAt: expires }),
      tags: Object.fromEntries(tags.map(tagOf)),
      value: JSON.parse(value),
    },
  }
}

function toLog(row: LogRow | null): Answers['log'] {
  if (row === null) return { version: undefined, length: 0, isSealed: false, entries: [] }
  const [version, length, isSealed, entries] = row
  return {
    ...{ version, length, isSealed },
    entries: (entries ?? []).map(([seq, data]): LogEntry => ({ seq, data: restored(data) })),
  }
}

/** Names of tags are letters and digits. */
function tagText([name, value]: readonly [string, string]): string {
  return `${name}=${value}`
}

function tagOf(text: string): [string, string] {
  const tag = restored(text)
  const end = tag.indexOf('=')
  return [tag.slice(0, end), tag.slice(end + 1)]
}

/** A commit as the function reads it. */
function toJson({ id, seen, documents, logs }: Commit): object {
  const nameOf = ({ collection: c, id: i }: { readonly collection: string; readonly id: string }) => ({
    c: stored(c),
    i: stored(i),
  })
  return {
    id,
    seen: seen.documents.map(each => ({ ...nameOf(each), v: each.version ?? null })),
    heads: seen.logs.map(({ log, version, head }) => ({
      ...{ l: stored(log), v: version ?? null },
      ...(head && { n: head.length, e: head.isSealed }),
    })),
    gone: documents.filter(({ document }) => document === undefined).map(nameOf),
    puts: documents.flatMap(({ collection, document }) => {
      if (document === undefined) return []
      const { partition, at, expiresAt, tags, value } = document
      return {
        ...nameOf({ collection, id: document.id }),
        ...{ p: stored(partition), a: at, x: expiresAt ?? null },
        t: Object.entries(tags).map(tag => stored(tagText(tag))),
        v: JSON.stringify(value),
      }
    }),
    logs: logs.map(({ log, isDeleted, entries, isSealed }) => ({
      ...{ l: stored(log), d: isDeleted, w: entries.map(stored), e: isSealed },
    })),
  }
}
