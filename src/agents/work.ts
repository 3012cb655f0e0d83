/**
 * The work of a run: what is done, what was answered, and what an agent keeps for later. A body is a function and cannot be
 * kept, so a run that goes on runs it again. Work that was done then gives its recorded result.
 *
 * @module
 */

import { isErrorCode, isServableError, messageOf, ServableError } from '../errors.ts'
import { Names } from './path.ts'
import { withoutKeys } from './redacted.ts'
import type { Answer, InputRequest, RunKeys } from './run-types.ts'

/** State that an agent keeps with a run that waits, and finds again in the run that goes on. */
export interface WorkState {
  /** What the run before kept here; undefined if it kept nothing. */
  read(): unknown
  /** Keeps a JSON value in place of the one before. */
  keep(state: unknown): void
}

/** What is named and recorded. */
export type WorkKind = 'call' | 'sleep' | 'step' | 'tool'

/** Work that is done, with what came of it as JSON. */
export interface DoneWork {
  readonly path: string
  readonly kind: WorkKind
  readonly value?: unknown
  /** What it failed with. */
  readonly error?: { readonly code: string; readonly message: string } | undefined
}

/** A request that was answered. */
export interface Answered {
  readonly request: InputRequest
  readonly answer: Answer
}

/** What a run that waits leaves to the one that goes on. JSON. */
export interface KeptWork {
  readonly done: readonly DoneWork[]
  readonly answered: readonly Answered[]
  /** By the place of who keeps it. */
  readonly states: Readonly<Record<string, unknown>>
}

/** Most pieces of work that one run records. */
export const MAX_WORK = 10_000

/** Most characters of all that a run that waits keeps, as JSON. */
export const MAX_WORK_LENGTH: number = 4 * 1024 * 1024

interface Shared {
  readonly done: Map<string, DoneWork>
  readonly answered: Map<string, Answered>
  readonly states: Map<string, unknown>
  /** Why nothing can be kept here, if so. */
  readonly whyUnkept: string | undefined
}

/** The work of one servable in a run. What it runs inside of itself has a part of its own. */
export class RunWork implements WorkState {
  /** The place in the run: empty at the top, else it ends with a slash. */
  readonly place: string
  readonly #kept: KeptWork | undefined
  readonly #whyUnkept: string | undefined
  #shared: Shared | undefined

  constructor(kept?: KeptWork, whyUnkept?: string, place = '', shared?: Shared) {
    this.#kept = kept
    this.#whyUnkept = whyUnkept
    this.place = place
    this.#shared = shared
  }

  /** The part of what runs inside, at a path. */
  inside(path: string): RunWork {
    return new RunWork(undefined, undefined, `${path}/`, this.#all())
  }

  read(): unknown {
    return this.#all().states.get(this.place)
  }

  keep(state: unknown): void {
    this.#all().states.set(this.place, state)
  }

  /** What was said at a path before the run that waited ended; empty if it did not wait there. */
  saidAt(path: string): string {
    const said = this.#all().states.get(path)
    return typeof said === 'string' ? said : ''
  }

  /** Keeps what was said at a path, for the result of what goes on there. */
  keepSaid(path: string, text: string): void {
    this.#all().states.set(path, text)
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

  /** Throws `run_too_large`. */
  record(done: DoneWork): void {
    const all = this.#all().done
    if (all.size >= MAX_WORK) {
      throw new ServableError('run_too_large', `The run does more than ${MAX_WORK} pieces of named work`)
    }
    all.set(done.path, done)
  }

  /** Whether the run goes on from another one. */
  get hasBegun(): boolean {
    if (this.#shared === undefined && this.#kept === undefined) return false
    const { done, answered } = this.#all()
    return done.size > 0 || answered.size > 0
  }

  /** The paths right below this place at which something has begun before. */
  paths(): string[] {
    const { done, answered } = this.#all()
    const { length } = this.place
    return [...done.keys(), ...answered.keys()]
      .filter(path => path.startsWith(this.place))
      .map(path => path.split('/', this.place.split('/').length).join('/'))
      .filter(path => path.length > length)
  }

  /** All of it as JSON, without the keys of the run. Throws `run_too_large`, and `invalid_event` for what is not JSON. */
  toKeep(keys: RunKeys): KeptWork {
    const { done, answered, states } = this.#all()
    const isPart = ({ path }: DoneWork) => parentsOf(path).some(parent => done.has(parent))
    const all = {
      // The result of the whole stands for its parts.
      done: [...done.values()].filter(each => !isPart(each)),
      answered: [...answered.values()],
      states: Object.fromEntries(states),
    }
    let json: string
    try {
      json = JSON.stringify(withoutKeys(all, keys))
    } catch (cause) {
      throw new ServableError('invalid_event', 'A result of a tool or step cannot be written as JSON', {
        cause,
      })
    }
    if (json.length <= MAX_WORK_LENGTH) return JSON.parse(json)
    throw new ServableError(
      'run_too_large',
      `The run waits, and its work is larger than ${MAX_WORK_LENGTH} characters`,
    )
  }

  #all(): Shared {
    this.#shared ??= {
      done: new Map(this.#kept?.done.map(each => [each.path, each])),
      answered: new Map(this.#kept?.answered.map(each => [pathOf(each.request), each])),
      states: new Map(Object.entries(this.#kept?.states ?? {})),
      whyUnkept: this.#whyUnkept,
    }
    return this.#shared
  }
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
  /** How much is going on: named work, steps of it, and groups of work that is done at once. */
  #open = 0
  #openSteps = 0
  #groups = 0
  /** Several went on at once: then their order says nothing. */
  #hasOverlapped = false

  constructor(work: RunWork) {
    this.work = work
    this.#names = new Names(work.place)
    this.#left = work.hasBegun ? new Set(work.paths()) : undefined
  }

  /** Whether the body is on its way to the point at which it goes on: what it says until then has been told. */
  get isBehind(): boolean {
    return this.#left !== undefined && this.#left.size > 0
  }

  /**
   * The path of the next work of a name. Throws `run_changed` where the run before did other work here, and `agent_failed` in the
   * middle of a step.
   */
  next(name: string): string {
    const path = this.#names.next(name)
    if (this.#openSteps > 0 && this.#groups === 0) throw insideStep(path)
    if (this.#open > 0 || this.#groups > 0) this.#hasOverlapped = true
    if (this.#left === undefined || this.#left.delete(path)) return path
    if (this.isBehind && !this.#hasOverlapped) throw changed(path)
    return path
  }

  /** Does named work, unless it is done: then its recorded result is given. What it throws is recorded too. */
  async *once<E, T>(
    kind: WorkKind,
    name: string,
    work: (path: string) => AsyncGenerator<E, T>,
  ): AsyncGenerator<E, T> {
    const path = this.next(name)
    const done = this.work.doneAt(path)
    if (done !== undefined) return resultOf(done, kind) as T
    const isStep = kind === 'step' ? 1 : 0
    this.#open++
    this.#openSteps += isStep
    try {
      const value = yield* work(path)
      this.work.record({ path, kind, value })
      return value
    } catch (error) {
      const code = isServableError(error) ? error.code : 'agent_failed'
      this.work.record({ path, kind, error: { code, message: messageOf(error) } })
      throw error
    } finally {
      this.#open--
      this.#openSteps -= isStep
    }
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

  /** The body has ended. Throws `run_changed` where it has left out what the run before did. */
  end(): void {
    if (this.isBehind) throw changed([...(this.#left ?? [])][0] ?? '')
  }
}

function insideStep(path: string): ServableError {
  return new ServableError(
    'agent_failed',
    `\`${path.slice(0, 200)}\` begins in the middle of a step: use the context that the step gets, or \`parallel\``,
  )
}

function resultOf({ path, kind, value, error }: DoneWork, asked: WorkKind): unknown {
  if (kind !== asked) throw changed(path)
  if (error === undefined) return value
  throw new ServableError(isErrorCode(error.code) ? error.code : 'agent_failed', error.message)
}

function changed(path: string): ServableError {
  return new ServableError(
    'run_changed',
    `The run cannot go on: at \`${path.slice(0, 200)}\` it does other work than the run before did`,
  )
}
