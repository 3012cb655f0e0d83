/**
 * The work of a run: what is done, what was answered, and what an agent keeps for later. A body is a function and cannot be
 * kept, so a run that goes on runs it again (`scope.ts`). Work that was done then gives its recorded result.
 *
 * @module
 */

import { isServableError, ServableError } from '../../base/errors.ts'
import { withoutKeys } from '../redacted.ts'
import type { Answer, InputRequest, RunKeys } from '../run-types.ts'

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
