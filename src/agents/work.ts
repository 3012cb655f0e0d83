/**
 * The work of a run: what is done, what was answered, and what an agent keeps for later. A body is a function and cannot be
 * kept, so a run that goes on runs it again. Work that was done then gives its recorded result.
 *
 * @module
 */

import { isErrorCode, isServableError, messageOf, ServableError } from '../errors.ts'
import { isTerminal, isWaiting } from './event.ts'
import { placeOf } from './input-request.ts'
import { Names } from './path.ts'
import { withoutKeys } from './redacted.ts'
import type { Answer, InputRequest, RunEvent, RunKeys } from './run-types.ts'

/** State that an agent keeps with a run that waits, and finds again in the run that goes on. */
export interface WorkState {
  /** What the run before kept here; undefined if it kept nothing. */
  read(): unknown
  /** Keeps a JSON value in place of the one before. */
  keep(state: unknown): void
}

/** What is named and recorded. Of what is asked the answer is. */
export type WorkKind = 'ask' | 'call' | 'sleep' | 'step' | 'tool'

/** Work that is done, with what came of it as JSON. */
export interface DoneWork {
  readonly path: string
  readonly kind: WorkKind
  readonly value?: unknown
  /** What it failed with. */
  readonly error?: { readonly code: string; readonly message: string } | undefined
  /** What it said. A run that was cut off says it again. */
  readonly text?: string | undefined
}

/** A part of a journal: work that is done, and states that have changed, by their places. */
export interface JournalEntry {
  readonly done?: DoneWork
  readonly states?: Readonly<Record<string, unknown>>
}

/** Keeps the work of a run as it is done, so that the run can go on if its process dies. */
export interface Journal {
  /** Resolves once the entry is kept. Rejects where the run is not this process's any more. */
  write(entry: JournalEntry): Promise<void>
}

/** A request that was answered. */
export interface Answered {
  readonly request: InputRequest
  readonly answer: Answer
}

/** What a run that waits leaves to the one that goes on. JSON. */
export interface KeptWork {
  /** The run with which it began. */
  readonly first?: string | undefined
  readonly done: readonly DoneWork[]
  readonly answered: readonly Answered[]
  /** By the place of who keeps it. */
  readonly states: Readonly<Record<string, unknown>>
  /** The run before did not wait: its process died. All is said again. */
  readonly isCut?: true | undefined
  /** But for what comes before these paths: an earlier run has told that, and waited then. */
  readonly told?: readonly string[] | undefined
}

/** Most pieces of work that one run records. */
export const MAX_WORK = 10_000

/** Most characters of all that a run that waits keeps, as JSON. */
export const MAX_WORK_LENGTH: number = 4 * 1024 * 1024

/** Most characters of results that are held while a run is at work. Parts of what ends are not kept, so it is more. */
const MAX_HELD_LENGTH = 8 * MAX_WORK_LENGTH

interface Shared {
  /** Characters of the results that are held. */
  length: number
  readonly first: string | undefined
  readonly done: Map<string, DoneWork>
  readonly answered: Map<string, Answered>
  readonly states: Map<string, unknown>
  /** By place: what had begun right below it before. Undefined in a run that goes on from none. */
  readonly begun: ReadonlyMap<string, Set<string>> | undefined
  /** Why nothing can be kept here, if so. */
  readonly whyUnkept: string | undefined
  readonly isCut: boolean
  /** What an earlier run than the one that was cut off has done; by place as well. */
  readonly told: ReadonlySet<string>
  readonly toldAt: ReadonlyMap<string, Set<string>>
  readonly journal: Journal | undefined
  /** Places of states that the journal does not have yet. */
  readonly changed: Set<string>
}

/** How the work of a run is kept. */
export interface WorkKeeping {
  /** Why nothing can be kept, if so. */
  readonly whyUnkept?: string | undefined
  readonly journal?: Journal | undefined
}

/** The work of one servable in a run. What it runs inside of itself has a part of its own. */
export class RunWork implements WorkState {
  /** The place in the run: empty at the top, else it ends with a slash. */
  readonly place: string
  readonly #kept: KeptWork | undefined
  readonly #keeping: WorkKeeping
  /** State that a caller without the run pipeline keeps itself. */
  readonly #own: WorkState | undefined
  #shared: Shared | undefined

  constructor(
    kept?: KeptWork,
    keeping: WorkKeeping = {},
    { place = '', shared, own }: { place?: string; shared?: Shared; own?: WorkState | undefined } = {},
  ) {
    this.#kept = kept
    this.#keeping = keeping
    this.#own = own
    this.place = place
    this.#shared = shared
  }

  /** The work that options of a run have, or new work around the state that they have. */
  static of(state: WorkState | undefined): RunWork {
    return state instanceof RunWork ? state : new RunWork(undefined, undefined, { own: state })
  }

  /** The part of what runs inside, at a path. */
  inside(path: string): RunWork {
    return new RunWork(undefined, undefined, { place: `${path}/`, shared: this.#all() })
  }

  read(): unknown {
    return this.#own === undefined ? this.#all().states.get(this.place) : this.#own.read()
  }

  keep(state: unknown): void {
    if (this.#own === undefined) this.keepAt(this.place, state)
    else this.#own.keep(state)
  }

  /** What was kept of what waited at a path: no agent's, whose paths end with a slash. */
  stateAt(path: string): unknown {
    return this.#all().states.get(path)
  }

  /** Keeps a JSON value of what waits at a path. */
  keepAt(path: string, state: unknown): void {
    const { states, changed, journal } = this.#all()
    states.set(path, state)
    if (journal !== undefined) changed.add(path)
  }

  /** Whether the run before was cut off. */
  get isCut(): boolean {
    return this.#all().isCut
  }

  /** Whether work is kept as it is done. */
  get isJournalled(): boolean {
    return this.#all().journal !== undefined
  }

  /** How many items of several at once may wait: what is recorded has been told, so none where there is a journal. */
  get lookahead(): number | undefined {
    return this.isJournalled ? 1 : undefined
  }

  /** Has the journal keep what has changed: what an agent calls when it has come so far. */
  checkpoint(): Promise<void> | undefined {
    return this.#write({})
  }

  /** The run with which all of this began; undefined in that one. */
  get first(): string | undefined {
    return this.#all().first
  }

  /** Throws `runs_not_stored` where a run that waits cannot be kept. */
  checkKept(): void {
    const { whyUnkept } = this.#all()
    if (whyUnkept !== undefined) throw new ServableError('runs_not_stored', whyUnkept)
  }

  /** Work that was done at a path. */
  doneAt(path: string): DoneWork | undefined {
    return this.#all().done.get(path)
  }

  /** The request that was made at a path, and its answer. */
  answeredAt(path: string): Answered | undefined {
    return this.#all().answered.get(path)
  }

  /** Forgets an answer that does not fit: it is asked for again. */
  refuse(path: string): void {
    this.#all().answered.delete(path)
  }

  /** What had begun before at a path: undefined of what was in the middle of other work. */
  kindAt(path: string): WorkKind | undefined {
    const { done, answered } = this.#all()
    const request = answered.get(path)?.request
    return done.get(path)?.kind ?? (request && (request.kind === 'question' ? 'ask' : 'tool'))
  }

  /** Keeps what is done; resolves once the journal has it, where there is one. Throws `run_too_large`. */
  record({ value, ...done }: DoneWork): Promise<void> | undefined {
    const all = this.#all()
    if (all.done.size >= MAX_WORK) {
      throw new ServableError('run_too_large', `The run does more than ${MAX_WORK} pieces of named work`)
    }
    const kept = { ...done, value: asOfNow(value, all) }
    all.done.set(done.path, kept)
    return this.#write({ done: kept })
  }

  #write(entry: JournalEntry): Promise<void> | undefined {
    const { journal, changed, states } = this.#all()
    if (journal === undefined) return undefined
    const news = [...changed].map(path => [path, states.get(path)] as const)
    changed.clear()
    return journal.write(news.length === 0 ? entry : { ...entry, states: Object.fromEntries(news) })
  }

  /** The paths right below this place at which something has begun before; undefined in a run that goes on from none. */
  get begun(): Set<string> | undefined {
    return this.#shared === undefined && this.#kept === undefined
      ? undefined
      : this.#all().begun?.get(this.place)
  }

  /** Of those, what an earlier run than the one that was cut off had told. */
  get toldHere(): Set<string> | undefined {
    return this.isCut ? this.#all().toldAt.get(this.place) : undefined
  }

  /** What work has said that is to be said again: nothing of what an earlier run has told. The result of a call has it. */
  textAt(path: string): string {
    const { isCut, told, done, states } = this.#all()
    const { kind, value, text = '' } = done.get(path) ?? {}
    if (!isCut || told.has(path)) return ''
    return kind === 'call'
      ? String(Object(value).text ?? '').slice(String(states.get(path) ?? '').length)
      : text
  }

  /** All of it as JSON, without the keys of the run. Throws `run_too_large`, and `invalid_event` for what is not JSON. */
  toKeep(keys: RunKeys): KeptWork {
    const { first, done, answered, states } = this.#all()
    const isPart = (path: string) => parentsOf(path).some(parent => done.has(parent))
    const all = {
      first,
      // The result of the whole stands for its parts.
      done: [...done.values()].filter(({ path }) => !isPart(path)),
      answered: [...answered.values()],
      states: Object.fromEntries([...states].filter(([path]) => !isPart(path))),
    }
    let json: string
    try {
      json = JSON.stringify(withoutKeys(all, keys))
    } catch (cause) {
      if (isServableError(cause)) throw cause
      throw new ServableError('invalid_event', 'A result of a tool or step cannot be written as JSON', {
        cause,
      })
    }
    if (json.length <= MAX_WORK_LENGTH) return JSON.parse(json)
    throw tooLarge()
  }

  #all(): Shared {
    this.#shared ??= this.#share()
    return this.#shared
  }

  #share(): Shared {
    const { first, done: kept = [], answered: answers = [], states = {} } = this.#kept ?? {}
    const { isCut = false, told = [] } = this.#kept ?? {}
    const done = new Map(kept.map(each => [each.path, each]))
    const answered = new Map(answers.map(each => [pathOf(each.request), each]))
    return {
      length: 0,
      first,
      done,
      answered,
      states: new Map(Object.entries(states)),
      begun: this.#kept && begunIn([...done.keys(), ...answered.keys()]),
      ...{ whyUnkept: this.#keeping.whyUnkept, journal: this.#keeping.journal },
      ...{ isCut, told: new Set(told), toldAt: begunIn(told), changed: new Set() },
    }
  }
}

/** The value as it is now, as JSON: a body may change what it got. */
function asOfNow(value: unknown, all: Shared): unknown {
  try {
    const json: string | undefined = JSON.stringify(value)
    if (json === undefined) return undefined
    if (all.length + json.length > MAX_HELD_LENGTH) throw tooLarge()
    all.length += json.length
    return { toJSON: () => JSON.parse(json) }
  } catch (thrown) {
    // It matters only where the run waits.
    return {
      toJSON() {
        throw thrown
      },
    }
  }
}

function tooLarge(): ServableError {
  return new ServableError(
    'run_too_large',
    `The run waits, and its work is larger than ${MAX_WORK_LENGTH} characters`,
  )
}

/** By place, the paths right below it. */
function begunIn(paths: readonly string[]): Map<string, Set<string>> {
  const begun = new Map<string, Set<string>>()
  for (const path of paths) {
    for (const each of [...parentsOf(path), path]) {
      const place = each.slice(0, each.lastIndexOf('/') + 1)
      begun.set(place, (begun.get(place) ?? new Set()).add(each))
    }
  }
  return begun
}

/** The paths of all that a path is inside of. */
function parentsOf(path: string): string[] {
  const names = path.split('/')
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'))
}

/** The place of a request in its run. */
export function pathOf({ id }: { readonly id: string }): string {
  return id.slice(id.indexOf('/') + 1)
}

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

  /** Whether the run before has told this. Throws `workflow_changed` for an end where that one had none. */
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
   * The path of the next work of a name. Throws `workflow_changed` where the run before did other work here, and `agent_failed` in the
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

  /** The body has ended. Throws `workflow_changed` where it has left out what the run before did. */
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
    'workflow_changed',
    `The run cannot go on: at \`${path.slice(0, 200)}\` it does other work than the run before did`,
  )
}
