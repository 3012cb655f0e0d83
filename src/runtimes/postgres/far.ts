/**
 * PostgreSQL as a store that answers later (decision 31): all questions of a look are one statement, which sees one moment, and a
 * commit is one call of a function.
 *
 * @module
 */

import type { Answers, Ask, Asks, Commit, Committed, Far, Version, Versioned } from '../../state/far.ts'
import { INDEXED_TAGS } from '../../state/migrations.ts'
import type { Filter, ListQuery, LogEntry, Place, Tags } from '../../state/store.ts'
import type { PostgresDriver } from './driver.ts'
import { DOCUMENT, tagColumn } from './schema.ts'
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
      const look = new Look(s, asks)
      const [row = {}] = await driver.query(look.text, look.values, { isOften: look.isUsual })
      const [clock, ...known] = row.known as Known
      ahead = clock - Date.now()
      return look.answers(known, row)
    },
    async commit(commit) {
      await prepare()
      const text = `SELECT ${s}.commit_1($1::text) AS versions`
      const [row] = await driver.query(text, [JSON.stringify(toJson(commit))], { isOften: true })
      return toCommitted(row?.versions as Readonly<Record<string, string>> | null)
    },
  }
}

const NEWEST = 'at DESC, id DESC'
const OLDEST = 'at, id'

/** What the function `look_1` answers: its clock in milliseconds, documents, logs and counts, each in the order of the questions. */
type Known = readonly [clock: number, ...KnownAnswers]
type KnownAnswers = readonly [
  documents: readonly unknown[] | null,
  logs: readonly unknown[] | null,
  counts: readonly unknown[] | null,
]

/** The questions that the function answers, and where. Most looks have no other, so that they are always the same statement. */
const KNOWN = ['get', 'log', 'count'] as const

/** A look as a statement. */
class Look {
  readonly text: string
  /** Whether it is the statement that most looks are. */
  readonly isUsual: boolean
  readonly #statement: Statement
  readonly #asks: readonly Ask[]
  readonly #parts: ReturnType<typeof partsOf>

  constructor(s: string, asks: readonly Ask[]) {
    this.#asks = asks
    this.#statement = new Statement(s)
    const given = this.#statement.json({
      get: columns(of(asks, 'get'), ({ collection, id }) => ({
        collection: stored(collection),
        id: stored(id),
      })),
      log: columns(of(asks, 'log'), ({ log, after, limit }) => ({
        ...{ log: stored(log), after, limit: Math.min(limit, MAX_LIMIT) },
      })),
      count: columns(of(asks, 'count'), ({ collection, partition }) => ({
        ...{ collection: stored(collection), partition: partition === undefined ? null : stored(partition) },
      })),
    })
    const parts = partsOf(asks)
    const others = parts.map((part, at) => `, ${this.#statement.answersTo(part)} AS "${at}"`)
    this.#parts = parts
    this.isUsual = others.length === 0
    this.text = `SELECT ${s}.look_1(${given}) AS known${others.join('\n')}`
  }

  get values(): Statement['values'] {
    return this.#statement.values
  }

  /** The answers in the order of the questions. */
  answers(known: KnownAnswers, row: Readonly<Record<string, unknown>>): Answers[keyof Asks][] {
    const given = new Map<Ask, unknown>()
    for (const [at, what] of KNOWN.entries()) {
      for (const [place, ask] of of(this.#asks, what).entries()) given.set(ask, known[at]?.[place])
    }
    for (const [at, part] of this.#parts.entries()) {
      const answers = row[at] as readonly unknown[]
      for (const [place, ask] of part.entries()) given.set(ask, answers[place])
    }
    return this.#asks.map(ask => answerOf(ask, given.get(ask)))
  }
}

/** A question about one partition. */
type OfPartition = Ask<'list'> | (Ask<'oldest'> & { readonly partition: string })

/**
 * The questions that the function does not answer. The database plans each part of the statement anew, so questions that differ
 * only in their partition are one part: a commit of many works may have hundreds of them.
 */
function partsOf(asks: readonly Ask[]): readonly (readonly Ask[])[] {
  const parts = new Map<Ask | string, Ask[]>()
  for (const ask of asks) {
    if ((KNOWN as readonly string[]).includes(ask.what)) continue
    const name = isOfPartition(ask) ? `${ask.what} ${ask.limit} ${ask.collection}` : ask
    const part = parts.get(name)
    if (part === undefined) parts.set(name, [ask])
    else part.push(ask)
  }
  return [...parts.values()]
}

function isOfPartition(ask: Ask): ask is OfPartition {
  return ask.what === 'list' ? ask.after === undefined : ask.what === 'oldest' && ask.partition !== undefined
}

function of<K extends keyof Asks>(asks: readonly Ask[], what: K): readonly Ask<K>[] {
  return asks.filter(ask => ask.what === what) as unknown as Ask<K>[]
}

/** Rows as one array for each of their members; undefined where there is none. */
function columns<T>(
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

/** A statement that is being written, with its parameters. */
class Statement {
  readonly values: (string | number)[] = []
  readonly #s: string

  constructor(s: string) {
    this.#s = s
  }

  /** A part of the statement that answers its questions with a JSON array: one question, or some that differ in their partition. */
  answersTo(part: readonly Ask[]): string {
    const [ask] = part as [Ask]
    return part.length > 1 && isOfPartition(ask)
      ? this.#ofPartitions(ask, part as readonly OfPartition[])
      : `json_build_array(${this.#answerTo(ask)})`
  }

  #ofPartitions({ what, collection, limit }: OfPartition, part: readonly OfPartition[]): string {
    const partitions = this.json(part.map(({ partition }) => stored(partition)))
    const rows = many(
      `SELECT ${DOCUMENT} AS j ${this.#from({ collection })} AND partition = x.p` +
        ` ORDER BY ${what === 'list' ? NEWEST : OLDEST} LIMIT ${this.#limit(limit)}`,
    )
    return `(SELECT json_agg(${rows} ORDER BY x.n) FROM json_array_elements_text(${partitions}::json) WITH ORDINALITY AS x(p, n))`
  }

  #answerTo(ask: Ask): string {
    switch (ask.what) {
      case 'list':
        return many(
          `SELECT ${DOCUMENT} AS j ${this.#in(ask)} ORDER BY ${NEWEST} LIMIT ${this.#limit(ask.limit)}`,
        )
      case 'search':
        return this.#search(ask)
      case 'countMatching':
        return this.#countMatching(ask)
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
        return many(`SELECT ${DOCUMENT} AS j ${from} ORDER BY ${OLDEST} LIMIT ${this.#limit(limit)}`)
      }
      default:
        throw new TypeError(`look_1 answers ${ask.what}`)
    }
  }

  /** A parameter. */
  json(value: object): string {
    return `$${this.values.push(JSON.stringify(value))}::text`
  }

  /** It reads no further than to what it gives. Only where that is not enough, it needs the last document that it may look at. */
  #search(ask: Asks['search']): string {
    const { fewest, ways, rest } = this.#ways(ask, 2 * (ask.limit + 1))
    const [looks, more] = [this.#limit(ask.looks), this.#limit(ask.limit + 1)]
    const tagged = this.#tagged(rest)
    const found = ways.map(
      way =>
        `(SELECT * FROM (SELECT * ${way} ORDER BY ${NEWEST} LIMIT ${looks}) looked ${tagged} ORDER BY ${NEWEST} LIMIT ${more})`,
    )
    const last = ways.map(
      way => `(SELECT json_build_array(at, id) AS j ${way} ORDER BY ${NEWEST} OFFSET ${looks} - 1 LIMIT 1)`,
    )
    return (
      `(WITH ${fewest} found AS MATERIALIZED (${found.join(' UNION ALL ')})` +
      ` SELECT json_build_array(${many(`SELECT ${DOCUMENT} AS j FROM found ORDER BY ${NEWEST}`)},` +
      ` CASE WHEN (SELECT count(*) FROM found) < ${more} THEN (SELECT j FROM (${last.join(' UNION ALL ')}) l) END))`
    )
  }

  #countMatching(ask: Asks['countMatching']): string {
    const { fewest, ways, rest } = this.#ways(ask, ask.looks)
    const looks = this.#limit(ask.looks)
    const looked = ways.map(way => `(SELECT * ${way} ORDER BY ${NEWEST} LIMIT ${looks})`)
    return `(WITH ${fewest} looked AS (${looked.join(' UNION ALL ')}) SELECT to_json(count(*)) FROM looked ${this.#tagged(rest)})`
  }

  /**
   * The documents to look at: by each tag that has an index, of which only the one that the fewest have gives any. They are counted as far
   * as `most`. `rest` are the tags that are to be looked at.
   */
  #ways(
    ask: { readonly collection: string } & Filter & Pick<Partial<ListQuery>, 'after'>,
    most: number,
  ): { readonly fewest: string; readonly ways: readonly string[]; readonly rest: Tags } {
    const since = ask.since === undefined ? '' : ` AND at >= ${this.#number(ask.since)}`
    const all = `${this.#in(ask)}${since}`
    const { tags = {} } = ask
    const ways = Object.entries(tags).flatMap(([tag, value]) =>
      INDEXED_TAGS.includes(tag) ? `${all} AND ${tagColumn(tag)} COLLATE "C" = ${this.#text(value)}` : [],
    )
    if (ways.length < 2) {
      const rest = Object.fromEntries(Object.entries(tags).filter(([tag]) => !INDEXED_TAGS.includes(tag)))
      return { fewest: '', ways: [ways[0] ?? all], rest }
    }
    const limit = this.#limit(Math.min(ask.looks, most))
    const counts = ways.map(
      (way, at) => `(${at}, (SELECT count(*) FROM (SELECT ${way} ORDER BY ${NEWEST} LIMIT ${limit}) rows))`,
    )
    return {
      fewest: `fewest AS MATERIALIZED (SELECT way FROM (VALUES ${counts.join(', ')}) counted (way, n) ORDER BY n, way LIMIT 1),`,
      ways: ways.map((way, at) => `${way} AND (SELECT way FROM fewest) = ${at}`),
      rest: tags,
    }
  }

  #tagged(tags: Tags = {}): string {
    if (Object.keys(tags).length === 0) return ''
    return `WHERE tags @> ${this.json(storedTags(tags))}::jsonb`
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
  [rows, last]: readonly [readonly DocumentRow[] | null, readonly [number, string] | null],
  { limit }: Asks['search'],
): Answers['search'] {
  const found = (rows ?? []).map(toVersioned)
  const documents = found.slice(0, limit)
  const end = found.length > limit ? documents.at(-1)?.document : placeOf(last)
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
      tags: mapTags(tags, restored),
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

function storedTags(tags: Tags): Tags {
  return mapTags(tags, stored)
}

/** Names of tags are letters and digits. */
function mapTags(tags: Tags, toText: (text: string) => string): Tags {
  return Object.fromEntries(Object.entries(tags).map(([name, value]) => [name, toText(value)]))
}

/** A commit as the function reads it: each table as its columns. What is empty is left out. */
function toJson({ id, seen, documents, logs, calls }: Commit): object {
  const name = ({ collection, id: i }: { readonly collection: string; readonly id: string }) => ({
    collection: stored(collection),
    id: stored(i),
  })
  const lengths = new Map(seen.logs.map(({ log, head }) => [log, head?.length]))
  const grown = logs
    .filter(({ entries }) => entries.length > 0)
    .map(each => {
      const length = each.isDeleted ? 0 : lengths.get(each.log)
      // Whoever appends has seen the end of the log.
      if (length === undefined) throw new TypeError(`Nobody has seen the log ${each.log}`)
      return { ...each, log: stored(each.log), length }
    })
  return {
    id,
    seen: columns(seen.documents, each => ({ ...name(each), version: each.version ?? null })),
    heads: columns(seen.logs, ({ log, version, head }) => ({
      ...{ log: stored(log), version: version ?? null },
      ...{ last: head?.length ?? null, sealed: head?.isSealed ?? null },
    })),
    logs: [...new Set([...seen.logs, ...logs].map(({ log }) => stored(log)))],
    gone: columns(
      documents.filter(({ document }) => document === undefined),
      name,
    ),
    puts: columns(
      documents.flatMap(({ collection, document }) => (document ? { collection, document } : [])),
      ({ collection, document: { id: i, partition, at, expiresAt, tags, value } }) => ({
        ...name({ collection, id: i }),
        ...{ partition: stored(partition), at, expires: expiresAt ?? null, tags: storedTags(tags) },
        value: JSON.stringify(value),
      }),
    ),
    deleted: logs.some(({ isDeleted }) => isDeleted)
      ? logs.flatMap(({ log, isDeleted }) => (isDeleted ? stored(log) : []))
      : undefined,
    grown: columns(grown, ({ log, length, entries, isSealed }) => ({
      ...{ log, last: length + entries.length, sealed: isSealed },
    })),
    entries: columns(
      grown.flatMap(({ log, length, entries }) =>
        entries.map((data, at) => ({ log, seq: length + at + 1, data: stored(data) })),
      ),
      entry => entry,
    ),
    calls: calls.length > 0 ? calls : undefined,
  }
}

function toCommitted(versions: Readonly<Record<string, string>> | null): Committed | undefined {
  if (versions === null) return undefined
  return {
    logs: new Map(
      Object.entries(versions).map(([log, version]) => [restored(log), version] as [string, Version]),
    ),
  }
}
