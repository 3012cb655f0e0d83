/**
 * A read of the database: the queries as one statement, and the answers from its row.
 *
 * @module
 */

import type { StoreAnswers, StoreQueries, StoreQuery } from '../remote/remote.ts'
import { answerOf, columns } from './rows.ts'
import { isOfPartition, MAX_LIMIT, Statement } from './statement.ts'
import { stored, storedKey } from './text.ts'

/**
 * The result of the function `look_1`: its clock in milliseconds, then documents, logs and counts, each in the order of the
 * queries.
 */
export type LookResult = readonly [clock: number, ...KnownAnswers]
type KnownAnswers = readonly [
  documents: readonly unknown[] | null,
  logs: readonly unknown[] | null,
  counts: readonly unknown[] | null,
]

/**
 * The queries that the function answers, in the order of its result. Most reads have no other, so that they are always the same
 * statement.
 */
const KNOWN = ['get', 'log', 'count'] as const

/** The statement of a read. */
export class LookStatement {
  readonly text: string
  /** Whether it is the common statement without other queries. */
  readonly isUsual: boolean
  readonly #statement: Statement
  readonly #asks: readonly StoreQuery[]
  readonly #parts: ReturnType<typeof partsOf>

  constructor(s: string, asks: readonly StoreQuery[]) {
    this.#asks = asks
    this.#statement = new Statement(s)
    const given = this.#statement.json({
      get: columns(of(asks, 'get'), ({ collection, id }) => ({
        collection: stored(collection),
        id: storedKey(id),
      })),
      log: columns(of(asks, 'log'), ({ log, after, limit }) => ({
        ...{ log: stored(log), after, limit: Math.min(limit, MAX_LIMIT) },
      })),
      count: columns(of(asks, 'count'), ({ collection, partition }) => ({
        ...{
          collection: stored(collection),
          partition: partition === undefined ? null : storedKey(partition),
        },
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

  /** The answers in the order of the queries. */
  answers(known: KnownAnswers, row: Readonly<Record<string, unknown>>): StoreAnswers[keyof StoreQueries][] {
    const given = new Map<StoreQuery, unknown>()
    for (const [at, what] of KNOWN.entries()) {
      for (const [position, ask] of of(this.#asks, what).entries()) given.set(ask, known[at]?.[position])
    }
    for (const [at, part] of this.#parts.entries()) {
      const answers = row[at] as readonly unknown[]
      for (const [position, ask] of part.entries()) given.set(ask, answers[position])
    }
    return this.#asks.map(ask => answerOf(ask, given.get(ask)))
  }
}

/**
 * Groups the queries that the function does not answer. The database plans each part of the statement anew, so queries that
 * differ only in their partition are one part: a commit of many works may have hundreds of them.
 */
function partsOf(asks: readonly StoreQuery[]): readonly (readonly StoreQuery[])[] {
  const parts = new Map<StoreQuery | string, StoreQuery[]>()
  for (const ask of asks) {
    if ((KNOWN as readonly string[]).includes(ask.what)) continue
    const name = isOfPartition(ask) ? `${ask.what} ${ask.limit} ${ask.collection}` : ask
    const part = parts.get(name)
    if (part === undefined) parts.set(name, [ask])
    else part.push(ask)
  }
  return [...parts.values()]
}

function of<K extends keyof StoreQueries>(asks: readonly StoreQuery[], what: K): readonly StoreQuery<K>[] {
  return asks.filter(ask => ask.what === what) as unknown as StoreQuery<K>[]
}
