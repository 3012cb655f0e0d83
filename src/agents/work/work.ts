/**
 * The work of a run: completed work, answers, and the state of agents. A body is a function and cannot be stored, so a run that
 * goes on runs it again (`scope.ts`). Work that is already done then returns its recorded result.
 *
 * @module
 */

import { isServableError, ServableError } from '../../base/errors.ts'
import { withoutKeys } from '../redacted.ts'
import type { Answer, InputRequest, RunKeys } from '../run-types.ts'

/** State that an agent keeps with a run that waits, and finds again in the run that goes on. */
export interface WorkState {
  /** What the run before kept here; undefined if nothing. */
  read(): unknown
  /** Keeps a JSON value instead of the one before. */
  keep(state: unknown): void
}

/** The kinds of named work. Of an `ask` the answer is recorded. */
export type WorkKind = 'ask' | 'call' | 'sleep' | 'steering' | 'step' | 'tool'

/** Completed work, with its result as JSON. */
export interface DoneWork {
  readonly path: string
  readonly kind: WorkKind
  readonly value?: unknown
  /** The error that it failed with. */
  readonly error?: { readonly code: string; readonly message: string } | undefined
  /** The text that it sent. A run that was cut off sends it again. */
  readonly text?: string | undefined
}

/** An entry of a journal: completed work, and changed states by path. */
export interface JournalEntry {
  readonly done?: DoneWork
  readonly states?: Readonly<Record<string, unknown>>
}

/** Stores the work of a run as it is done, so that the run can go on if its process dies. */
export interface Journal {
  /**
   * Resolves once the entry is stored. Rejects if another process has taken the run over. With `mayWait` it is stored with later
   * output, at the latest by `flush`; if the run ends before, it is not stored, and resolves.
   */
  write(entry: JournalEntry, mayWait?: boolean): Promise<void>
  /** Stores what waits, now. */
  flush(): void
}

/** A request with its answer. */
export interface Answered {
  readonly request: InputRequest
  readonly answer: Answer
}

/** What a run that waits leaves to the one that goes on. JSON. */
export interface KeptWork {
  /** The first run of the chain. */
  readonly first?: string | undefined
  readonly done: readonly DoneWork[]
  readonly answered: readonly Answered[]
  /** States, by the path of the work that keeps them. */
  readonly states: Readonly<Record<string, unknown>>
  /** The process of the run before died, so all output comes again. */
  readonly isCut?: true | undefined
  /** The exceptions to `isCut`: output of an earlier run, up to where that run waited, was sent and does not come again. */
  readonly told?: readonly string[] | undefined
}

/** The most pieces of work that one run records. */
export const MAX_WORK = 10_000

/** The most characters of the JSON that a waiting run keeps. */
export const MAX_WORK_LENGTH: number = 4 * 1024 * 1024

/** The most characters of results held while a run is at work. It is more, since parts of completed work are not kept. */
const MAX_HELD_LENGTH = 8 * MAX_WORK_LENGTH

interface Shared {
  /** Characters of the held results. */
  length: number
  readonly first: string | undefined
  readonly done: Map<string, DoneWork>
  readonly answered: Map<string, Answered>
  readonly states: Map<string, unknown>
  /** By path prefix: the paths right below it that had begun before. Undefined in a run that continues none. */
  readonly begun: ReadonlyMap<string, Set<string>> | undefined
  /** Why nothing can be kept; undefined if it can. */
  readonly whyUnkept: string | undefined
  readonly isCut: boolean
  /** The work of an earlier run than the one that was cut off, also by path prefix. */
  readonly emitted: ReadonlySet<string>
  readonly emittedAt: ReadonlyMap<string, Set<string>>
  readonly journal: Journal | undefined
  /** Paths of states that the journal does not have yet. */
  readonly changed: Set<string>
  readonly keepsCalls: boolean
  /** A record that is not stored yet. The next work waits for it. */
  pending: Promise<void> | undefined
}

/** How the work of a run is kept. */
export interface WorkKeeping {
  /** Why nothing can be kept; undefined if it can. */
  readonly whyUnkept?: string | undefined
  readonly journal?: Journal | undefined
  /** Whether what models are sent and reply is kept. */
  readonly keepsCalls?: boolean | undefined
}

/** The work of one servable in a run. Servables inside it have parts of their own. */
export class RunWork implements WorkState {
  /** The path in the run: empty at the top, else it ends with a slash. */
  readonly prefix: string
  readonly #kept: KeptWork | undefined
  readonly #keeping: WorkKeeping
  /** State that a caller without the run pipeline keeps itself. */
  readonly #own: WorkState | undefined
  #shared: Shared | undefined

  constructor(
    kept?: KeptWork,
    keeping: WorkKeeping = {},
    { prefix = '', shared, own }: { prefix?: string; shared?: Shared; own?: WorkState | undefined } = {},
  ) {
    this.#kept = kept
    this.#keeping = keeping
    this.#own = own
    this.prefix = prefix
    this.#shared = shared
  }

  /** The work in the options of a run, or new work around the state in them. */
  static of(state: WorkState | undefined): RunWork {
    return state instanceof RunWork ? state : new RunWork(undefined, undefined, { own: state })
  }

  /** The part of the work that runs inside, at a path. */
  inside(path: string): RunWork {
    return new RunWork(undefined, undefined, { prefix: `${path}/`, shared: this.#all() })
  }

  read(): unknown {
    return this.#own === undefined ? this.#all().states.get(this.prefix) : this.#own.read()
  }

  keep(state: unknown): void {
    if (this.#own === undefined) this.keepAt(this.prefix, state)
    else this.#own.keep(state)
  }

  /** The state of waiting work at a path. Paths of agents end with a slash and never equal it. */
  stateAt(path: string): unknown {
    return this.#all().states.get(path)
  }

  /** Keeps a JSON value for the waiting work at a path. */
  keepAt(path: string, state: unknown): void {
    const { states, changed, journal } = this.#all()
    states.set(path, state)
    if (journal !== undefined) changed.add(path)
  }

  /** Whether the run before was cut off. */
  get isCut(): boolean {
    return this.#all().isCut
  }

  /** Whether the work is of a run that this one does not continue: an approval given there counts for no call here. */
  get isTakenOver(): boolean {
    return this.isCut && this.first === undefined
  }

  /** Whether work is kept as it is done. */
  get isJournalled(): boolean {
    return this.#all().journal !== undefined
  }

  /** Whether adapters add what models are sent and reply to the events of their calls. */
  get keepsCalls(): boolean {
    return this.#all().keepsCalls
  }

  /** How many items of parallel lanes may wait. With a journal none may, since recorded output must have been sent. */
  get lookahead(): number | undefined {
    return this.isJournalled ? 1 : undefined
  }

  /** Writes the changed states to the journal. Agents call it when they have reached such a state. */
  checkpoint(): Promise<void> | undefined {
    return this.#write({})
  }

  /** The same, but the journal may store them later: the next work waits for that, and nothing else does. */
  checkpointLater(): void {
    this.#wait(this.#write({}, true))
  }

  /** The first run of the chain; undefined in that run. */
  get first(): string | undefined {
    return this.#all().first
  }

  /** Throws `runs_not_stored` if a waiting run cannot be kept. */
  checkKept(): void {
    const { whyUnkept } = this.#all()
    if (whyUnkept !== undefined) throw new ServableError('runs_not_stored', whyUnkept)
  }

  /** The completed work at a path. */
  doneAt(path: string): DoneWork | undefined {
    return this.#all().done.get(path)
  }

  /** The request at a path, and its answer. */
  answeredAt(path: string): Answered | undefined {
    return this.#all().answered.get(path)
  }

  /** Drops an answer that does not fit, so that it is asked for again. */
  refuse(path: string): void {
    this.#all().answered.delete(path)
  }

  /** The kind of work that had begun before at a path; undefined inside of other work. */
  kindAt(path: string): WorkKind | undefined {
    const { done, answered } = this.#all()
    const request = answered.get(path)?.request
    return done.get(path)?.kind ?? (request && (request.kind === 'question' ? 'ask' : 'tool'))
  }

  /**
   * Records a completed step. The journal may store it later: the next work waits for that, and nothing else does. Throws
   * `run_too_large`.
   */
  recordStep(done: DoneWork): undefined {
    this.#wait(this.record(done, true))
  }

  /** Adds to the records for which the next work waits. */
  #wait(written: Promise<void> | undefined): void {
    if (written === undefined) return
    const all = this.#all()
    all.pending = Promise.all([all.pending, written]).then(() => {})
    // If nothing follows, the end of the run shows that it is another worker's.
    all.pending.catch(() => {})
  }

  /** Resolves once all records are stored; undefined if they are. Rejects if another worker has taken the run over. */
  settled(): Promise<void> | undefined {
    const all = this.#all()
    const { pending } = all
    if (pending === undefined) return undefined
    all.journal?.flush()
    return pending.finally(() => {
      if (all.pending === pending) all.pending = undefined
    })
  }

  /**
   * Records completed work. Resolves once the journal has it, if there is one. With `mayWait` the journal may store it later. Throws
   * `run_too_large`.
   */
  record({ value, ...done }: DoneWork, mayWait = false): Promise<void> | undefined {
    const all = this.#all()
    if (all.done.size >= MAX_WORK) {
      throw new ServableError('run_too_large', `The run does more than ${MAX_WORK} pieces of named work`)
    }
    const kept = { ...done, value: asOfNow(value, all) }
    all.done.set(done.path, kept)
    return this.#write({ done: kept }, mayWait)
  }

  #write(entry: JournalEntry, mayWait = false): Promise<void> | undefined {
    const { journal, changed, states } = this.#all()
    if (journal === undefined) return undefined
    const news = [...changed].map(path => [path, states.get(path)] as const)
    changed.clear()
    const whole = news.length === 0 ? entry : { ...entry, states: Object.fromEntries(news) }
    return journal.write(whole, mayWait)
  }

  /** The paths right below this one where work has begun before; undefined in a run that continues none. */
  get begun(): Set<string> | undefined {
    return this.#shared === undefined && this.#kept === undefined
      ? undefined
      : this.#all().begun?.get(this.prefix)
  }

  /** Of those, the ones whose output an earlier run than the one that was cut off has sent. */
  get emittedHere(): Set<string> | undefined {
    return this.isCut ? this.#all().emittedAt.get(this.prefix) : undefined
  }

  /**
   * The text of completed work that is to be sent again, without what was sent before a wait. A call's text is in its result.
   */
  textAt(path: string): string {
    const { isCut, emitted, done, states } = this.#all()
    const { kind, value, text = '' } = done.get(path) ?? {}
    if (!isCut || emitted.has(path)) return ''
    const whole = kind === 'call' ? String(Object(value).text ?? '') : text
    return whole.slice(String(states.get(path) ?? '').length)
  }

  /** All of it as JSON, without the run's keys. Throws `run_too_large`, and `invalid_event` for a value that is not JSON. */
  toKeep(keys: RunKeys): KeptWork {
    const { first, done, answered, states } = this.#all()
    const isPart = (path: string) => parentsOf(path).some(parent => done.has(parent))
    const all = {
      first,
      // The result of the whole includes its parts.
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
    const { isCut = false, told: emitted = [] } = this.#kept ?? {}
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
      ...{ isCut, emitted: new Set(emitted), emittedAt: begunIn(emitted), changed: new Set() },
      keepsCalls: this.#keeping.keepsCalls === true,
      pending: undefined,
    }
  }
}

/** The value as it is now, as JSON: a body may change it later. */
function asOfNow(value: unknown, all: Shared): unknown {
  try {
    const json: string | undefined = JSON.stringify(value)
    if (json === undefined) return undefined
    if (all.length + json.length > MAX_HELD_LENGTH) throw tooLarge()
    all.length += json.length
    return { toJSON: () => JSON.parse(json) }
  } catch (thrown) {
    // The error matters only if the run waits.
    return {
      toJSON() {
        throw thrown
      },
    }
  }
}

function tooLarge(): ServableError {
  const text = `The run waits, and its work is larger than ${MAX_WORK_LENGTH} characters`
  return new ServableError('run_too_large', text)
}

/** Maps each path prefix to the paths right below it. */
function begunIn(paths: readonly string[]): Map<string, Set<string>> {
  const begun = new Map<string, Set<string>>()
  for (const path of paths) {
    for (const each of [...parentsOf(path), path]) {
      const prefix = each.slice(0, each.lastIndexOf('/') + 1)
      begun.set(prefix, (begun.get(prefix) ?? new Set()).add(each))
    }
  }
  return begun
}

/** The paths of all work that contains a path. */
function parentsOf(path: string): string[] {
  const names = path.split('/')
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'))
}

/** The path of a request in its run. */
export function pathOf({ id }: { readonly id: string }): string {
  return id.slice(id.indexOf('/') + 1)
}
