/**
 * What an agent may remember between runs. The deployment keeps it; a run gets at its own part of it.
 *
 * @module
 */

import type { Correction } from './corrections.ts'
import { ownerOf } from './owner.ts'
import { withoutKeys } from './redacted.ts'
import type { ErrorEvent, FinishEvent, Kind, RunCaller, RunEvent, RunInput, RunKeys } from './run-types.ts'
import type { Turn, TurnEnd } from './turn.ts'

/** What was said before in a session, of one servable and one owner. */
export interface SessionMemory {
  /**
   * What a model is told of the turns before this run, oldest first: the newest turns that fit. A turn is told by the messages
   * that were appended in it, else as the text of the user and of the answer. What the run has appended itself comes last.
   */
  read(): Promise<readonly unknown[]>
  /**
   * Tells the turn of this run by these messages, of any JSON, without the provider keys of the run. They are kept when the run
   * ends. What only the provider of the servable's model understands (`providerOptions`, reasoning) is told to that provider alone.
   */
  append(messages: readonly unknown[]): Promise<void>
  /**
   * The transcript: every turn that is kept, in the order in which they began, with this one. What is remembered inside of a run
   * has none.
   */
  turns(): Promise<readonly Turn[]>
}

/** Who remembers. */
export interface Remembering {
  readonly kind: Kind
  readonly name: string
  readonly model?: { readonly provider: string } | undefined
}

/** The memory of one run. */
export interface RunMemory {
  /**
   * The session of the run; undefined where the run has no `sessionId` or has a `history`, and where none are kept. Each servable
   * has its own: one that is served by itself has one memory however it is reached, any other one for each team or workflow
   * around it. Default: of what runs. `provider`: of the model that is told. Default: the servable's.
   */
  session(servable?: Remembering, provider?: string): SessionMemory | undefined
  /**
   * What people put right in the output of an agent, newest first: corrections of the run's identity, and none without one.
   * 1 to 100.
   */
  corrections(agent: Remembering, limit: number): Promise<readonly Correction[]>
  /** The name under which something is served, else its own. */
  nameOf(servable: Remembering): string
  /** The memory of what is run inside of this run. */
  inside(servable: Remembering): RunMemory
}

/** Whose session it is. */
export interface SessionKey {
  /** As `ownerOf` tells; null for whoever knows the session's id. */
  readonly owner: string | null
  /** What is asked for, after the part that knows its name. */
  readonly place: readonly string[]
  readonly sessionId: string
  /** Who remembers inside of it, after all that it is run inside of. It leaves with the session. */
  readonly member?: readonly string[] | undefined
}

/** Who reads a session. */
export interface SessionReader {
  readonly runId?: string | undefined
  /** Of the model that is told. */
  readonly provider?: string | undefined
}

/** What is appended. */
export interface SessionNote {
  readonly messages: readonly unknown[]
  readonly provider?: string | undefined
}

/** A turn that begins, or goes on. */
export interface BegunTurn extends Turn {
  /** It goes on where its process died. */
  readonly goesOn?: boolean | undefined
  /** The id of the message whose turn it replaces, with all after that. */
  readonly replaces?: string | undefined
}

/** What a run finds that wants a session. */
export interface Entered {
  /** How many are before it; with 0 it has the session. */
  readonly place: number
  /** The runs that it stops. */
  readonly stops: readonly string[]
  /** A later run stops this one. */
  readonly isStopped: boolean
  /** Its turn begins, and is the first one that lists may tell of. */
  readonly isFirst?: boolean
}

/** A run in a session, at work or waiting in this process. */
export interface Sitting {
  readonly runId: string
  stop(): void
  /** The session may be free. */
  look(): void
}

/** A run, as its turn sees it. */
export interface SittingRun {
  readonly id: string
  readonly input: RunInput
  readonly options: MemoryOptions
  /** It has a record. */
  readonly isStored?: boolean | undefined
  readonly cancel: () => void
  /** The run that it continues. */
  readonly continuedFrom?: string | undefined
  /** It goes on with its own turn, where its process died. */
  readonly goesOn?: boolean | undefined
  /** It has to wait for its session. */
  readonly onWait: () => void
}

/** The turn of a run, as the run sees it. */
export interface RunSitting extends OwnTurn {
  /** Resolves once the turn is written, or the run has left. Rejects where it cannot have the session. */
  enter(): Promise<void>
  /** Takes in what is said. */
  see(event: RunEvent): void
  /** The run has ended. Gives what is done once that is kept, which never rejects; undefined where there is nothing to keep. */
  leave(event: FinishEvent | ErrorEvent): Promise<void> | undefined
  /** Another process goes on with the run: nothing is kept of its end here. */
  abandon(): void
}

/** Where sessions are kept. */
export interface SessionStorage {
  /** Makes the turn of a run. */
  turnOf(key: SessionKey, target: Remembering, run: SittingRun): RunSitting
  /** What a model is told. */
  read(key: SessionKey, reader?: SessionReader, signal?: AbortSignal): Promise<readonly unknown[]>
  append(key: SessionKey, note: SessionNote): Promise<void>
  turns(key: SessionKey): Promise<readonly Turn[]>
  /** When the turn of a run may be gone; undefined where there is none, and the run does not wait for the session. */
  turnUntil(key: SessionKey, runId: string): Promise<number | undefined>
  /**
   * Gets in line, or keeps the place in it; the first in line has the session, and its turn begins. Throws `session_busy`, and
   * `session_changed` where the message that it replaces is not there.
   */
  enter(key: SessionKey, turn: BegunTurn): Promise<Entered>
  /** Keeps the session. False for a run that is to stop. */
  beat(key: SessionKey, runId: string): Promise<boolean>
  /** Leaves the line. Keeps how the turn ended, if it began; without its beginning only where that is known. */
  leave(
    key: SessionKey,
    turn: TurnEnd & Pick<Turn, 'runId'> & Partial<Turn>,
    note?: SessionNote,
  ): Promise<void>
  /** Takes a run in until it is let go: the next ones of its session are told. */
  seat(key: SessionKey, sitting: Sitting): { readonly others: Iterable<Sitting>; letGo(): void }
  /** Milliseconds between two beats. */
  readonly beatMs: number
  /** Told of a turn whose end could not be kept. */
  failed(error: unknown): void
  /** Told of a session whose first turn has begun, and each time that a turn has ended: lists may be elsewhere. */
  changed?: ((key: SessionKey) => Promise<void>) | undefined
}

/** The turn of a run, as its memory sees it. */
export interface OwnTurn {
  readonly key: SessionKey
  readonly runId: string
  /** What was appended so far. */
  readonly messages: readonly unknown[]
  append(note: SessionNote): void
}

/** Where sessions and corrections are kept, and who is served. */
export interface MemoryStorage {
  /** Undefined where none are kept. */
  readonly sessions: SessionStorage | undefined
  corrections(agent: string, owner: string, limit: number): Promise<readonly Correction[]>
  /** The name under which something is served by itself, `asked` if it is one of them; undefined where it is not. */
  servedAs(servable: unknown, kind: Kind, asked: string): string | undefined
}

/** What is run, under the name by which it was asked for. */
export interface MemoryTarget extends Remembering {
  readonly servable: unknown
  /** The part that has names of its own, where it is one of those. */
  readonly scope?: string
}

/** The memory of a run of an owner in a session. */
export function memoryOf(
  keeper: MemoryStorage,
  target: MemoryTarget,
  options: MemoryOptions,
  own?: OwnTurn,
): RunMemory {
  // Most runs never ask.
  let here: Spot | undefined
  const find = () => {
    here ??= spotIn(keeper, target)
    return here
  }
  return memoryAt(find, keeper, options, own)
}

/** The options of a run that its memory looks at. */
type MemoryOptions = RunCaller &
  RunKeys & { readonly history?: unknown; readonly signal?: AbortSignal | undefined }

/** The session of a run; undefined where it has none. */
export function sessionOf(
  keeper: MemoryStorage | undefined,
  target: MemoryTarget,
  options: RunCaller,
): SessionKey | undefined {
  const { sessionId } = options
  if (sessionId === undefined || keeper?.sessions === undefined) return undefined
  return { owner: ownerOf(options) ?? null, place: spotIn(keeper, target).place, sessionId }
}

function spotIn(keeper: MemoryStorage, { kind, name, servable, scope = '' }: MemoryTarget): Spot {
  const served = keeper.servedAs(servable, kind, name)
  const place = served === undefined ? [scope, label(kind, name)] : [label(kind, served)]
  return { servable, name: served ?? name, place, member: [] }
}

/** Something at work: its name, and its place and member as {@link SessionKey} has it. */
interface Spot {
  readonly servable: unknown
  readonly name: string
  readonly place: readonly string[]
  readonly member: readonly string[]
}

function memoryAt(
  find: () => Spot,
  keeper: MemoryStorage,
  options: MemoryOptions,
  own: OwnTurn | undefined,
): RunMemory {
  const { identity, sessionId, history, signal } = options
  const { sessions } = keeper
  const spotOf = (servable: Remembering | undefined): Spot => {
    const here = find()
    if (servable === undefined || servable === here.servable) return here
    const { kind } = servable
    const served = keeper.servedAs(servable, kind, servable.name)
    const name = served ?? servable.name
    const spot = { servable, name }
    return served === undefined
      ? { ...spot, place: here.place, member: [...here.member, label(kind, name)] }
      : { ...spot, place: [label(kind, name)], member: [] }
  }
  return {
    session(servable, provider) {
      // One memory a run: what its client tells, or what is kept.
      if (sessionId === undefined || sessions === undefined || history !== undefined) return undefined
      const { place, member, servable: whose } = spotOf(servable)
      const key = { owner: ownerOf(options) ?? null, place, sessionId, ...(member.length > 0 && { member }) }
      const model = provider ?? (whose as Partial<Remembering> | undefined)?.model?.provider
      const turn = own !== undefined && member.length === 0 && isSame(place, own.key.place) ? own : undefined
      return {
        async read() {
          const before = await sessions.read(key, { runId: own?.runId, provider: model }, signal)
          return turn === undefined ? before : [...before, ...turn.messages]
        },
        async append(messages) {
          const note = { messages: withoutKeys(messages, options), provider: model }
          if (turn !== undefined) turn.append(note)
          // A run that has been stopped remembers nothing more: its session may be gone.
          else if (!signal?.aborted) await sessions.append(key, note)
        },
        turns: async () => (member.length > 0 ? [] : sessions.turns(key)),
      }
    },
    // What a stranger corrects is told to nobody: without an identity all would be one owner.
    corrections: async (agent, limit) =>
      identity === undefined ? [] : keeper.corrections(spotOf(agent).name, identity, limit),
    nameOf: servable => spotOf(servable).name,
    inside(servable) {
      const spot = spotOf(servable)
      return memoryAt(() => spot, keeper, options, own)
    },
  }
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((part, index) => part === other[index])
}

function label(kind: Kind, name: string): string {
  return `${kind}:${name}`
}
