/**
 * The parts of a statement that query documents.
 *
 * @module
 */

import type { StoreQueries, StoreQuery } from '../remote/remote.ts'
import { folded } from '../searched.ts'
import { INDEXED_TAGS } from '../sql/migrations.ts'
import type { Filter, ListQuery, Tags } from '../store.ts'
import { tagColumn } from './indices.ts'
import { POSITION, storedTags, textContains, UNSEARCHED } from './rows.ts'
import { stored, storedKey } from './text.ts'

/** The largest limit that a statement takes. */
export const MAX_LIMIT: number = 2 ** 31 - 1

const NEWEST = 'at DESC, id DESC'
const OLDEST = 'at, id'

/** A query of one partition. */
type OfPartition = StoreQuery<'list'> | (StoreQuery<'oldest'> & { readonly partition: string })

/** A statement under construction, with its parameters. */
export class Statement {
  readonly values: (string | number)[] = []
  readonly #s: string

  constructor(s: string) {
    this.#s = s
  }

  /**
   * Returns a part of the statement that answers its queries with a JSON array: one query, or some that differ in their
   * partition.
   */
  answersTo(part: readonly StoreQuery[]): string {
    const [ask] = part as [StoreQuery]
    return part.length > 1 && isOfPartition(ask)
      ? this.#ofPartitions(ask, part as readonly OfPartition[])
      : `json_build_array(${this.#answerTo(ask)})`
  }

  #ofPartitions({ what, collection, limit }: OfPartition, part: readonly OfPartition[]): string {
    const partitions = this.json(part.map(({ partition }) => storedKey(partition)))
    const rows = many(
      `SELECT ${UNSEARCHED} AS j ${this.#from({ collection })} AND partition = x.p` +
        ` ORDER BY ${what === 'list' ? NEWEST : OLDEST} LIMIT ${this.#limit(limit)}`,
    )
    return `(SELECT json_agg(${rows} ORDER BY x.n) FROM json_array_elements_text(${partitions}::json) WITH ORDINALITY AS x(p, n))`
  }

  #answerTo(ask: StoreQuery): string {
    switch (ask.what) {
      case 'list':
        return many(
          `SELECT ${UNSEARCHED} AS j ${this.#in(ask)} ORDER BY ${NEWEST} LIMIT ${this.#limit(ask.limit)}`,
        )
      case 'search':
        return this.#search(ask)
      case 'countMatching':
        return this.#countMatching(ask)
      case 'withPrefix': {
        const [from, to] = [stored(ask.prefix), stored(`${ask.prefix}\u{10ffff}`)].map(text =>
          this.#text(text),
        )
        const limit = this.#limit(ask.limit)
        return many(
          `SELECT ${UNSEARCHED} AS j ${this.#from(ask)} AND id >= ${from} AND id < ${to} ORDER BY id LIMIT ${limit}`,
        )
      }
      case 'expired': {
        const [now, limit] = [this.#number(ask.now), this.#limit(ask.limit)]
        return many(
          `SELECT ${UNSEARCHED} AS j ${this.#from(ask)} AND expires <= ${now} ORDER BY expires LIMIT ${limit}`,
        )
      }
      case 'oldest': {
        const { collection, partition, limit } = ask
        const from = partition === undefined ? this.#from(ask) : this.#of(collection, partition)
        return many(`SELECT ${UNSEARCHED} AS j ${from} ORDER BY ${OLDEST} LIMIT ${this.#limit(limit)}`)
      }
      default:
        throw new TypeError(`look_1 answers ${ask.what}`)
    }
  }

  /** Adds a parameter and returns its placeholder. */
  json(value: object): string {
    return `$${this.values.push(JSON.stringify(value))}::text`
  }

  /**
   * It reads only as many documents as it returns. If these are too few, it needs the position of the last document that may be
   * searched.
   */
  #search(ask: StoreQueries['search']): string {
    const { fewest, ways, rest } = this.#ways(ask, 2 * (ask.limit + 1))
    const [looks, more] = [this.#limit(ask.looks), this.#limit(ask.limit + 1)]
    const tagged = this.#having(rest, ask.text)
    const found = ways.map(
      way =>
        `(SELECT * FROM (SELECT * ${way} ORDER BY ${NEWEST} LIMIT ${looks}) looked ${tagged} ORDER BY ${NEWEST} LIMIT ${more})`,
    )
    const last = ways.map(
      way => `(SELECT ${POSITION} AS j ${way} ORDER BY ${NEWEST} OFFSET ${looks} - 1 LIMIT 1)`,
    )
    return (
      `(WITH ${fewest} found AS MATERIALIZED (${found.join(' UNION ALL ')})` +
      ` SELECT json_build_array(${many(`SELECT ${UNSEARCHED} AS j FROM found ORDER BY ${NEWEST}`)},` +
      ` CASE WHEN (SELECT count(*) FROM found) < ${more} THEN (SELECT j FROM (${last.join(' UNION ALL ')}) l) END))`
    )
  }

  #countMatching(ask: StoreQueries['countMatching']): string {
    const { fewest, ways, rest } = this.#ways(ask, ask.looks)
    const looks = this.#limit(ask.looks)
    const looked = ways.map(way => `(SELECT * ${way} ORDER BY ${NEWEST} LIMIT ${looks})`)
    const more = ways.map(way => `EXISTS (SELECT ${way} ORDER BY ${NEWEST} OFFSET ${looks})`)
    return (
      `(WITH ${fewest} looked AS (${looked.join(' UNION ALL ')})` +
      ` SELECT json_build_array(count(*), ${more.join(' OR ')}) FROM looked ${this.#having(rest, ask.text)})`
    )
  }

  /**
   * The documents to search: one way for each indexed tag. Only the tag with the fewest documents yields any. Documents are
   * counted up to `most`. `rest` are the tags to check in each document.
   */
  #ways(
    ask: { readonly collection: string } & Filter & Pick<Partial<ListQuery>, 'after'>,
    most: number,
  ): { readonly fewest: string; readonly ways: readonly string[]; readonly rest: Tags } {
    const since = ask.since === undefined ? '' : ` AND at >= ${this.#number(ask.since)}`
    const all = `${this.#in(ask)}${since}`
    const { tags = {} } = ask
    const ways = Object.entries(tags).flatMap(([tag, value]) =>
      ask.partition !== undefined && INDEXED_TAGS.includes(tag)
        ? `${all} AND ${tagColumn(tag)} COLLATE "C" = ${this.#key(value)}`
        : [],
    )
    if (ways.length < 2) {
      const [way = all] = ways
      const rest = Object.entries(tags).filter(([tag]) => way === all || !INDEXED_TAGS.includes(tag))
      return { fewest: '', ways: [way], rest: Object.fromEntries(rest) }
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

  /** The condition that a document has all of the tags, and a text that contains a term. */
  #having(tags: Tags, term: string | undefined): string {
    const conditions = [
      ...(Object.keys(tags).length === 0 ? [] : [`tags @> ${this.json(storedTags(tags))}::jsonb`]),
      ...(term ? [textContains(this.#text(folded(term)))] : []),
    ]
    return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  }

  #in({
    collection,
    partition,
    after,
  }: { readonly collection: string } & Pick<Filter, 'partition'> &
    Pick<Partial<ListQuery>, 'after'>): string {
    const from = partition === undefined ? this.#from({ collection }) : this.#of(collection, partition)
    return after === undefined
      ? from
      : `${from} AND (at, id) < (${this.#number(after.at)}, ${this.#key(after.id)})`
  }

  #of(collection: string, partition: string): string {
    return `${this.#from({ collection })} AND partition = ${this.#key(partition)}`
  }

  #from({ collection }: { readonly collection: string }): string {
    return `FROM ${this.#s}.documents WHERE collection = ${this.#text(stored(collection))}`
  }

  #key(text: string): string {
    return this.#text(storedKey(text))
  }

  #text(text: string): string {
    return `$${this.values.push(text)}::text`
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

/** Whether a query is about one partition, so that it can be grouped. */
export function isOfPartition(ask: StoreQuery): ask is OfPartition {
  return ask.what === 'list' ? ask.after === undefined : ask.what === 'oldest' && ask.partition !== undefined
}
