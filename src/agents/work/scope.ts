/**
 * Tracks the named work of one body. A body that runs again repeats work and output until the point where the run before stopped;
 * the scope knows how far it has come.
 *
 * @module
 */

import { isErrorCode, isServableError, messageOf, ServableError } from '../../base/errors.ts'
import { isTerminal, isWaiting } from '../event.ts'
import { requestNameOf } from '../input-request.ts'
import type { InputRequest, RunEvent, Yielded } from '../run-types.ts'
import type { DoneWork, RunWork, WorkKind } from './work.ts'

/** The named work of one body. */
export class Scope {
  readonly work: RunWork
  readonly #names: Names
  /** Work that had begun in the run before and that this run has not reached yet. */
  readonly #left: Set<string> | undefined
  /** Of that, the work whose output an earlier run than the one that was cut off has sent. */
  readonly #emitted: Set<string> | undefined
  /** How many are running: named work, steps of it, and groups of parallel work. */
  #open = 0
  #openSteps = 0
  #groups = 0
  /** Whether work has run in parallel. Its order then means nothing. */
  #hasOverlapped = false
  #groupsSoFar = 0
  /** Events that are new, though the body still repeats other work. */
  #news: WeakSet<object> | undefined
  /** Whether the body may be retried. After a failed attempt the work of the next one is not known. */
  readonly #isTriedAgain: boolean

  constructor(
    work: RunWork,
    { isTriedAgain = false, before }: { readonly isTriedAgain?: boolean; readonly before?: Scope } = {},
  ) {
    this.work = work
    this.#names = before === undefined ? new Names(work.prefix) : before.#names
    this.#left = before === undefined ? work.begun : before.#left
    this.#emitted = before === undefined ? work.emittedHere : before.#emitted
    if (before !== undefined) this.#groupsSoFar = before.#groupsSoFar
    this.#isTriedAgain = isTriedAgain
  }

  /** The scope of another attempt. It leaves out what the attempt before left open when its time was over. */
  again(): Scope {
    return new Scope(this.work, { isTriedAgain: this.#isTriedAgain, before: this })
  }

  /** Whether the body still repeats earlier work: it has not yet reached the point where it goes on. */
  get isBehind(): boolean {
    return this.#left !== undefined && this.#left.size > 0
  }

  /** Whether the body now repeats output that was sent: it is behind, and not where the run before was cut off. */
  get isRepeating(): boolean {
    return this.isBehind && (!this.work.isCut || Number(this.#emitted?.size) > 0)
  }

  /** Whether one of these requests was made right here, or inside of work that begins here, and has not been reached yet. */
  isBehindOf(requests: readonly string[]): boolean {
    const { length } = this.work.prefix
    return requests.some(path => this.#left?.has(path.slice(0, `${path}/`.indexOf('/', length))))
  }

  /** Marks output of one of several parallel bodies as new. */
  asNew(item: Yielded): RunEvent {
    const event: RunEvent = typeof item === 'string' ? { type: 'text', text: item } : item
    this.#news ??= new WeakSet()
    this.#news.add(event)
    return event
  }

  /** Whether output of one of several parallel bodies is new. */
  isNew(item: Yielded): boolean {
    return typeof item === 'object' && this.#news?.has(item) === true
  }

  /** Whether the run before has sent this item. Throws `code_changed` for an end where that run had none. */
  wasEmitted(item: Yielded): boolean {
    if (typeof item === 'string' || !this.isBehind) return this.isRepeating
    if (item.type === 'finish' && !isWaiting(item)) this.end()
    return this.isRepeating && !isTerminal(item) && !this.isNew(item)
  }

  /** The key of the next group of parallel work. No name equals it. */
  nextGroup(): string {
    return `${this.work.prefix}#${++this.#groupsSoFar}`
  }

  /**
   * The path of the next work of a name. Throws `code_changed` if the run before did other work here, and `agent_failed` in the
   * middle of a step.
   */
  next(name: string, kind: WorkKind): string {
    const path = this.#names.next(name)
    if (this.#openSteps > 0 && this.#groups === 0) throw insideStep(path)
    const isAlone = this.#open === 0 && this.#groups === 0 && !this.#isTriedAgain
    if (!isAlone) this.#hasOverlapped = true
    if (isAlone && this.work.isCut && !this.#isDue(path)) throw changed(path)
    this.#emitted?.delete(path)
    if (this.#left?.delete(path)) {
      const before = this.work.kindAt(path)
      const isSame = before === undefined ? kind === 'call' || kind === 'step' : before === kind
      if (!isSame) throw changed(path)
    } else if (this.isBehind && !this.#hasOverlapped) throw changed(path)
    return path
  }

  /** Whether no completed work before this path is still to be reached. The positions of answers are not known. */
  #isDue(path: string): boolean {
    if (this.#left?.has(path) !== true || this.work.answeredAt(path) !== undefined) return true
    for (const each of this.#left) {
      if (each === path) return true
      if (this.work.answeredAt(each) === undefined) return false
    }
    return true
  }

  /**
   * Goes on after an agent's requests for its calls: the names of later work follow theirs. `asked` are the newest requests.
   * Earlier ones were answered before.
   */
  meet(asked: readonly InputRequest[]): void {
    for (const request of asked) this.next(requestNameOf(request), 'tool')
    for (const path of this.#left ?? []) {
      const request = this.work.answeredAt(path)?.request
      if (request !== undefined && request.kind !== 'question') this.next(requestNameOf(request), 'tool')
    }
  }

  /** Does named work, unless it is done: then it returns the recorded result. Errors are recorded too. */
  async *once<E, T>(
    kind: WorkKind,
    name: string,
    work: (path: string) => AsyncGenerator<E, T>,
  ): AsyncGenerator<E, T> {
    const path = this.next(name, kind)
    const done = this.work.doneAt(path)
    if (done === undefined) return yield* this.#doOnce(kind, path, work(path))
    const text = this.work.textAt(path)
    // Its text is a valid event for any kind of work.
    if (text !== '') yield { type: 'text', text, ...(kind === 'call' && { agent: name }) } as E
    return resultOf(done) as T
  }

  async *#doOnce<E, T>(kind: WorkKind, path: string, work: AsyncGenerator<E, T>): AsyncGenerator<E, T> {
    const isStep = kind === 'step' ? 1 : 0
    const output = { text: isStep === 1 ? String(this.work.stateAt(path) ?? '') : '' }
    const keep = (text: string) => this.work.keepAt(path, text)
    const doneWith = (end: Pick<DoneWork, 'value' | 'error'>): DoneWork => ({
      ...{ path, kind, ...end },
      ...(output.text !== '' && output),
    })
    // A finished step is never done again, so its record is stored before the next work begins.
    const before = this.work.settled()
    if (before !== undefined) await before
    let value: T
    this.#open++
    this.#openSteps += isStep
    try {
      value = yield* isStep === 1 && this.work.isJournalled ? collectingText(work, output, keep) : work
    } catch (error) {
      const code = isServableError(error) ? error.code : 'agent_failed'
      await this.work.record(doneWith({ error: { code, message: messageOf(error) } }))
      throw error
    } finally {
      this.#open--
      this.#openSteps -= isStep
    }
    const done = doneWith({ value })
    const kept = isStep === 1 ? this.work.recordStep(done) : this.work.record(done)
    if (kept !== undefined) await kept
    return value
  }

  /** Reads work whose parts run in parallel. */
  async *together<E, T>(work: AsyncGenerator<E, T>): AsyncGenerator<E, T> {
    this.#groups++
    try {
      return yield* work
    } finally {
      this.#groups--
    }
  }

  /** The body has ended. Throws `code_changed` if it left out work of the run before. */
  end(): void {
    if (this.#isTriedAgain) this.#left?.clear()
    if (this.isBehind) throw changed([...(this.#left ?? [])][0] ?? '')
  }
}

/** Collects the text of the items. What was sent before a wait is kept for the run that goes on. */
async function* collectingText<E, T>(
  work: AsyncGenerator<E, T>,
  output: { text: string },
  keep: (text: string) => void,
): AsyncGenerator<E, T> {
  let result = await work.next()
  try {
    for (; !result.done; result = await work.next()) {
      output.text += spokenIn(result.value)
      if (isWaiting(result.value as Yielded) && output.text !== '') keep(output.text)
      yield result.value
    }
    return result.value
  } finally {
    if (!result.done) await work.return(undefined as T)
  }
}

/** The text of an item, including that of messages. */
function spokenIn(item: unknown): string {
  if (typeof item === 'string') return item
  const { type, text, parts } = Object(item) as Readonly<Record<string, unknown>>
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
  // Copy it: the body may change the value, and the next run needs the record.
  if (error === undefined) return structuredClone(value)
  throw new ServableError(isErrorCode(error.code) ? error.code : 'agent_failed', error.message)
}

function changed(path: string): ServableError {
  return new ServableError(
    'code_changed',
    `The run cannot go on: at \`${path.slice(0, 200)}\` it does other work than the run before did`,
  )
}

/** Counts the names of one body. */
export class Names {
  /** The path of the body in the run: empty at the top, else it ends with a slash. */
  readonly prefix: string
  #counts: Map<string, number> | undefined

  constructor(prefix = '') {
    this.prefix = prefix
  }

  /** The path of the next work of that name: `name`, then `name#2`, after the prefix. */
  next(name: string): string {
    this.#counts ??= new Map()
    const count = (this.#counts.get(name) ?? 0) + 1
    this.#counts.set(name, count)
    // Escape the name, so that no name can equal two names, no name, or the second occurrence of another.
    const path = this.prefix + (name === '' ? '%' : name.replace(/[%/#]/g, encodeURIComponent))
    return count === 1 ? path : `${path}#${count}`
  }
}
