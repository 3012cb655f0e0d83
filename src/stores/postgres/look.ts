/**
 * A look at the database: the questions as one statement, and the answers out of its row.
 *
 * @module
 */

import type { Answers, Ask, Asks } from '../remote/far.ts'
import { answerOf, columns } from './rows.ts'
import { isOfPartition, MAX_LIMIT, Statement } from './statement.ts'
import { stored, storedKey } from './text.ts'

/** What the function `look_1` answers: its clock in milliseconds, documents, logs and counts, each in the order of the questions. */
export type Known = readonly [clock: number, ...KnownAnswers]
type KnownAnswers = readonly [
  documents: readonly unknown[] | null,
  logs: readonly unknown[] | null,
  counts: readonly unknown[] | null,
]

/** The questions that the function answers, and where. Most looks have no other, so that they are always the same statement. */
const KNOWN = ['get', 'log', 'count'] as const

/** A look as a statement. */
export class Look {
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

function of<K extends keyof Asks>(asks: readonly Ask[], what: K): readonly Ask<K>[] {
  return asks.filter(ask => ask.what === what) as unknown as Ask<K>[]
}
