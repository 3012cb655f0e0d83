import type { StoreAnswers, StoreQueries, StoreQuery } from './remote/remote.ts'

/** The part of a log that was read. */
interface LogPart {
  readonly ask: StoreQuery<'log'>
  readonly answer: StoreAnswers['log']
}

/** Questions with a limit. An answer for a higher limit also answers a lower one. */
const LIMITED: ReadonlySet<string> = new Set(['list', 'withPrefix', 'expired', 'oldest'])

type LimitedAsk = StoreQuery<'list' | 'withPrefix' | 'expired' | 'oldest'>

const isLimited = (ask: StoreQuery): ask is LimitedAsk => LIMITED.has(ask.what)

/** The key of a question. Lists that differ only in their limit have the same key. */
function keyOf(ask: StoreQuery): string {
  return JSON.stringify(isLimited(ask) ? { ...ask, limit: 0 } : ask)
}

/** The answers of a store as of one moment. */
export class Snapshot {
  readonly #answers = new Map<
    string,
    { readonly ask: StoreQuery; readonly answer: StoreAnswers[keyof StoreQueries] }
  >()
  readonly #logs = new Map<string, LogPart[]>()

  constructor(asks: readonly StoreQuery[] = [], answers: readonly StoreAnswers[keyof StoreQueries][] = []) {
    for (const [index, ask] of asks.entries()) {
      const answer = answers[index]
      if (ask.what !== 'log') this.#answers.set(keyOf(ask), { ask, answer })
      // The answers have the order of the questions.
      else this.#partsOf(ask.log).push({ ask, answer: answer as StoreAnswers['log'] })
    }
  }

  /** The answer in an array, since the answer may be undefined. Empty if the question was not asked. */
  find<K extends Exclude<keyof StoreQueries, 'log'>>(
    ask: StoreQuery<K>,
  ): readonly [] | readonly [StoreAnswers[K]] {
    const known = this.#answers.get(keyOf(ask as StoreQuery))
    if (known === undefined || !isEnough(known.ask, known.answer, ask as StoreQuery)) return []
    return [known.answer as StoreAnswers[K]]
  }

  /** The part of a log that has the requested entries, or that ends where they begin. */
  part({ log, after, limit }: StoreQueries['log']): (LogPart & { readonly isEnough: boolean }) | undefined {
    const parts = this.#logs.get(log)?.filter(({ ask }) => ask.after <= after) ?? []
    const enough = parts.find(part => reachOf(part) >= after + limit || reachOf(part) >= part.answer.length)
    if (enough !== undefined) return { ...enough, isEnough: true }
    const before = parts.find(part => reachOf(part) >= after)
    return before && { ...before, isEnough: false }
  }

  #partsOf(log: string): LogPart[] {
    const parts = this.#logs.get(log) ?? []
    this.#logs.set(log, parts)
    return parts
  }
}

/** The number of the last entry in a part. */
const reachOf = ({ ask, answer }: LogPart): number => ask.after + answer.entries.length

function isEnough(known: StoreQuery, answer: StoreAnswers[keyof StoreQueries], ask: StoreQuery): boolean {
  if (!isLimited(known) || !isLimited(ask) || ask.limit <= known.limit) return true
  return Array.isArray(answer) && answer.length < known.limit
}

/** Questions without duplicates. */
export class Questions {
  readonly #asks = new Map<string, StoreQuery>()

  get all(): readonly StoreQuery[] {
    return [...this.#asks.values()]
  }

  add(ask: StoreQuery): void {
    const key = ask.what === 'log' ? JSON.stringify([ask.log, ask.after]) : keyOf(ask)
    const before = this.#asks.get(key)
    // The longer one answers both.
    if (before !== undefined && 'limit' in before && 'limit' in ask && before.limit >= ask.limit) return
    this.#asks.set(key, ask)
  }
}
