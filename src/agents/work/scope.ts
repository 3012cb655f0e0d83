/**
 * The named work of one body, and how far a body that runs again has come: what it does and says until the point at which it goes on
 * was done and told before.
 *
 * @module
 */

import { isErrorCode, isServableError, messageOf, ServableError } from '../../base/errors.ts'
import { isTerminal, isWaiting } from '../event.ts'
import { placeOf } from '../input-request.ts'
import type { InputRequest, RunEvent } from '../run-types.ts'
import { Names } from './path.ts'
import type { DoneWork, RunWork, WorkKind } from './work.ts'

/** The named work of one body. */
export class Scope {
  readonly work: RunWork
  readonly #names: Names
  /** What had begun before, and was not met yet. */
  readonly #left: Set<string> | undefined
  /** Of that, what an earlier run than the one that was cut off had told. */
  readonly #told: Set<string> | undefined
  /** How much is going on: named work, steps of it, and groups of work that is done at once. */
  #open = 0
  #openSteps = 0
  #groups = 0
  /** Several went on at once: then their order says nothing. */
  #hasOverlapped = false
  #groupsSoFar = 0
  /** What is told for the first time, though the body is behind with other work. */
  #news: WeakSet<object> | undefined
  /** The body may be tried again: where one attempt has failed the next time is not known. */
  readonly #isTriedAgain: boolean

  constructor(
    work: RunWork,
    { isTriedAgain = false, before }: { readonly isTriedAgain?: boolean; readonly before?: Scope } = {},
  ) {
    this.work = work
    this.#names = before === undefined ? new Names(work.place) : before.#names
    this.#left = before === undefined ? work.begun : before.#left
    this.#told = before === undefined ? work.toldHere : before.#told
    if (before !== undefined) this.#groupsSoFar = before.#groupsSoFar
    this.#isTriedAgain = isTriedAgain
  }

  /** The scope of another attempt: what the one before has left open, since its time was over, is not of it. */
  again(): Scope {
    return new Scope(this.work, { isTriedAgain: this.#isTriedAgain, before: this })
  }

  /** Whether the body is on its way to the point at which it goes on: what it says until then has been told. */
  get isBehind(): boolean {
    return this.#left !== undefined && this.#left.size > 0
  }

  /** Whether what the body says now has been told: it is behind, and not where the run before was cut off. */
  get isRetelling(): boolean {
    return this.isBehind && (!this.work.isCut || Number(this.#told?.size) > 0)
  }

  /** Whether one of these requests was made right here, or inside of what begins here, and that is yet to be met. */
  isBehindOf(requests: readonly string[]): boolean {
    const { length } = this.work.place
    return requests.some(path => this.#left?.has(path.slice(0, `${path}/`.indexOf('/', length))))
  }

  /** Marks what one of several at once says: it was not told before. */
  asNews(said: string | RunEvent): RunEvent {
    const event: RunEvent = typeof said === 'string' ? { type: 'text', text: said } : said
    this.#news ??= new WeakSet()
    this.#news.add(event)
    return event
  }

  /** Whether one of several at once says it for the first time. */
  isNews(said: string | RunEvent): boolean {
    return typeof said === 'object' && this.#news?.has(said) === true
  }

  /** Whether the run before has told this. Throws `code_changed` for an end where that one had none. */
  wasTold(said: string | RunEvent): boolean {
    if (typeof said === 'string' || !this.isBehind) return this.isRetelling
    if (said.type === 'finish' && !isWaiting(said)) this.end()
    return this.isRetelling && !isTerminal(said) && !this.isNews(said)
  }

  /** The key of the next group of work that is done at once. No name has it. */
  nextGroup(): string {
    return `${this.work.place}#${++this.#groupsSoFar}`
  }

  /**
   * The path of the next work of a name. Throws `code_changed` where the run before did other work here, and `agent_failed` in the
   * middle of a step.
   */
  next(name: string, kind: WorkKind): string {
    const path = this.#names.next(name)
    if (this.#openSteps > 0 && this.#groups === 0) throw insideStep(path)
    const isAlone = this.#open === 0 && this.#groups === 0 && !this.#isTriedAgain
    if (!isAlone) this.#hasOverlapped = true
    if (isAlone && this.work.isCut && !this.#isDue(path)) throw changed(path)
    this.#told?.delete(path)
    if (this.#left?.delete(path)) {
      const before = this.work.kindAt(path)
      const isSame = before === undefined ? kind === 'call' || kind === 'step' : before === kind
      if (!isSame) throw changed(path)
    } else if (this.isBehind && !this.#hasOverlapped) throw changed(path)
    return path
  }

  /** Whether nothing that was done before this path is yet to be met. Where answers were taken is not known. */
  #isDue(path: string): boolean {
    if (this.#left?.has(path) !== true || this.work.answeredAt(path) !== undefined) return true
    for (const each of this.#left) {
      if (each === path) return true
      if (this.work.answeredAt(each) === undefined) return false
    }
    return true
  }

  /**
   * Goes on where an agent asked for its calls: what follows has names of its own. `asked` are the newest requests; those before
   * them were answered earlier.
   */
  meet(asked: readonly InputRequest[]): void {
    for (const request of asked) this.next(placeOf(request), 'tool')
    for (const path of this.#left ?? []) {
      const request = this.work.answeredAt(path)?.request
      if (request !== undefined && request.kind !== 'question') this.next(placeOf(request), 'tool')
    }
  }

  /** Does named work, unless it is done: then its recorded result is given. What it throws is recorded too. */
  async *once<E, T>(
    kind: WorkKind,
    name: string,
    work: (path: string) => AsyncGenerator<E, T>,
  ): AsyncGenerator<E, T> {
    const path = this.next(name, kind)
    const done = this.work.doneAt(path)
    if (done === undefined) return yield* this.#doOnce(kind, path, work(path))
    const text = this.work.textAt(path)
    // What it said is an event of any work.
    if (text !== '') yield { type: 'text', text, ...(kind === 'call' && { agent: name }) } as E
    return resultOf(done) as T
  }

  async *#doOnce<E, T>(kind: WorkKind, path: string, work: AsyncGenerator<E, T>): AsyncGenerator<E, T> {
    const isStep = kind === 'step' ? 1 : 0
    const heard = { text: '' }
    const record = (end: Pick<DoneWork, 'value' | 'error'>) =>
      this.work.record({ path, kind, ...end, ...(heard.text !== '' && heard) })
    let value: T
    this.#open++
    this.#openSteps += isStep
    try {
      value = yield* isStep === 1 && this.work.isJournalled ? hearing(work, heard) : work
    } catch (error) {
      const code = isServableError(error) ? error.code : 'agent_failed'
      await record({ error: { code, message: messageOf(error) } })
      throw error
    } finally {
      this.#open--
      this.#openSteps -= isStep
    }
    const kept = record({ value })
    if (kept !== undefined) await kept
    return value
  }

  /** Reads work of which several pieces are done at once. */
  async *together<E, T>(work: AsyncGenerator<E, T>): AsyncGenerator<E, T> {
    this.#groups++
    try {
      return yield* work
    } finally {
      this.#groups--
    }
  }

  /** The body has ended. Throws `code_changed` where it has left out what the run before did. */
  end(): void {
    if (this.#isTriedAgain) this.#left?.clear()
    if (this.isBehind) throw changed([...(this.#left ?? [])][0] ?? '')
  }
}

/** Gathers the text that is said. */
async function* hearing<E, T>(work: AsyncGenerator<E, T>, heard: { text: string }): AsyncGenerator<E, T> {
  let result = await work.next()
  try {
    for (; !result.done; result = await work.next()) {
      heard.text += spokenIn(result.value)
      yield result.value
    }
    return result.value
  } finally {
    if (!result.done) await work.return(undefined as T)
  }
}

/** The text that a result has of what is said: that of messages, too. */
function spokenIn(said: unknown): string {
  if (typeof said === 'string') return said
  const { type, text, parts } = Object(said) as Readonly<Record<string, unknown>>
  if (type === 'message' && Array.isArray(parts)) return parts.map(spokenIn).join('')
  return type === 'text' && typeof text === 'string' ? text : ''
}

function insideStep(path: string): ServableError {
  return new ServableError(
    'agent_failed',
    `\`${path.slice(0, 200)}\` begins in the middle of a step: use the context that the step gets, or \`parallel\``,
  )
}

function resultOf({ value, error }: DoneWork): unknown {
  // The body may change what it gets, and the record is for the next run too.
  if (error === undefined) return structuredClone(value)
  throw new ServableError(isErrorCode(error.code) ? error.code : 'agent_failed', error.message)
}

function changed(path: string): ServableError {
  return new ServableError(
    'code_changed',
    `The run cannot go on: at \`${path.slice(0, 200)}\` it does other work than the run before did`,
  )
}
