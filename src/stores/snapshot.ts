import type { Answers, Ask, Asks, LogHead } from './remote/far.ts'

/** The part of a log that was read. */
interface LogPart {
  readonly ask: Ask<'log'>
  readonly answer: Answers['log']
}

/** Questions with a limit. An answer for a higher limit also answers a lower one. */
const LIMITED: ReadonlySet<string> = new Set(['list', 'withPrefix', 'expired', 'oldest'])

type LimitedAsk = Ask<'list' | 'withPrefix' | 'expired' | 'oldest'>

const isLimited = (ask: Ask): ask is LimitedAsk => LIMITED.has(ask.what)

/** The key of a question. Lists that differ only in their limit have the same key. */
function keyOf(ask: Ask): string {
  return JSON.stringify(isLimited(ask) ? { ...ask, limit: 0 } : ask)
}

/** The answers of a store as of one moment. */
export class Snapshot {
  readonly #answers = new Map<string, { readonly ask: Ask; readonly answer: Answers[keyof Asks] }>()
  readonly #logs = new Map<string, LogPart[]>()
  readonly #known: ReadonlyMap<string, LogHead>

  /** `known` are the states of logs that nobody needs to ask for. */
  constructor(
    asks: readonly Ask[] = [],
    answers: readonly Answers[keyof Asks][] = [],
    known: ReadonlyMap<string, LogHead> = new Map(),
  ) {
    this.#known = known
    for (const [index, ask] of asks.entries()) {
      const answer = answers[index]
      if (ask.what !== 'log') this.#answers.set(keyOf(ask), { ask, answer })
      // The answers have the order of the questions.
      else this.#partsOf(ask.log).push({ ask, answer: answer as Answers['log'] })
    }
  }

  /** The answer in an array, since the answer may be undefined. Empty if the question was not asked. */
  find<K extends Exclude<keyof Asks, 'log'>>(ask: Ask<K>): readonly [] | readonly [Answers[K]] {
    const known = this.#answers.get(keyOf(ask as Ask))
    if (known === undefined || !isEnough(known.ask, known.answer, ask as Ask)) return []
    return [known.answer as Answers[K]]
  }

  /** The part of a log that has the requested entries, or that ends where they begin. */
  part({ log, after, limit }: Asks['log']): (LogPart & { readonly isEnough: boolean }) | undefined {
    const head = this.#known.get(log)
    if (head !== undefined) return toPart(log, head, limit)
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

/** The state of a log as a part without entries. */
function toPart(log: string, head: LogHead, limit: number): LogPart & { readonly isEnough: boolean } {
  const ask = { what: 'log', log, after: 0, limit: 0 } as const
  return { ask, answer: { ...head, entries: [] }, isEnough: limit === 0 }
}

/** The number of the last entry in a part. */
const reachOf = ({ ask, answer }: LogPart): number => ask.after + answer.entries.length

function isEnough(known: Ask, answer: Answers[keyof Asks], ask: Ask): boolean {
  if (!isLimited(known) || !isLimited(ask) || ask.limit <= known.limit) return true
  return Array.isArray(answer) && answer.length < known.limit
}

/** Questions without duplicates. */
export class Questions {
  readonly #asks = new Map<string, Ask>()

  get all(): readonly Ask[] {
    return [...this.#asks.values()]
  }

  add(ask: Ask): void {
    const key = ask.what === 'log' ? JSON.stringify([ask.log, ask.after]) : keyOf(ask)
    const before = this.#asks.get(key)
    // The longer one answers both.
    if (before !== undefined && 'limit' in before && 'limit' in ask && before.limit >= ask.limit) return
    this.#asks.set(key, ask)
  }
}
