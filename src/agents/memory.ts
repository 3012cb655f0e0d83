/**
 * The memory of agents between runs. The deployment stores it; each run reads and writes its own part.
 *
 * @module
 */

import type { Correction } from './corrections.ts'
import { withoutKeys } from './redacted.ts'
import type { ErrorEvent, FinishEvent, Kind, RunCaller, RunEvent, RunInput, RunKeys } from './run-types.ts'
import { type ConversationStates, OF_RUN, type StateRun, type StateStorage, statesOf } from './states.ts'
import type { SteeredMessage, Turn, TurnEnd, TurnTree } from './turn.ts'

/** The earlier conversation of a session, of one servable and one owner. */
export interface SessionMemory {
  /**
   * Returns the messages for a model of the turns before this run, oldest first: the newest turns that fit. A turn consists of
   * the messages that were appended in it, else of the user's text and the answer's. What this run has appended comes last.
   */
  read(): Promise<readonly unknown[]>
  /**
   * Records these messages, of any JSON, as the turn of this run, without the run's provider keys. They are stored when the run
   * ends. Parts that only the provider of the servable's model understands (`providerOptions`, reasoning) go to that provider
   * alone.
   */
  append(messages: readonly unknown[]): Promise<void>
  /**
   * The transcript: every stored turn of the run's branch in the order in which they began, and this one. Memory of a servable inside
   * of a run has no transcript.
   */
  turns(): Promise<readonly Turn[]>
}

/** The servable whose memory it is. */
export interface MemoryServable {
  readonly kind: Kind
  readonly name: string
  readonly model?: { readonly provider: string } | undefined
}

/** The memory of one run. */
export interface RunMemory {
  /**
   * The session of the run. Undefined if the run has no `sessionId` or has a `history`, or if no sessions are stored. Each
   * servable has its own memory: a servable that is served by itself has one, however it is reached; any other has one for each
   * team or workflow around it. `servable` defaults to the one that runs. `provider` is that of the model that reads the
   * messages; default: the servable's.
   */
  session(servable?: MemoryServable, provider?: string): SessionMemory | undefined
  /**
   * The corrections of an agent's output by the run's identity, newest first; none without an identity. `limit` is 1 to 100.
   */
  corrections(agent: MemoryServable, limit: number): Promise<readonly Correction[]>
  /** The name under which the servable is served, else its own name. */
  nameOf(servable: MemoryServable): string
  /** The memory of a servable that runs inside of this run. */
  inside(servable: MemoryServable): RunMemory
  /**
   * The states that the framework of the running servable keeps: of the session, or of the run if it has none. Undefined if no sessions
   * are stored.
   */
  states?(run: StateRun): ConversationStates | undefined
}

/** Identifies a session. */
export interface SessionKey {
  /** The result of `ownerOf`; null for callers who know only the session's id. */
  readonly owner: string | null
  /** The requested servable, after the part of the service that knows its name. */
  readonly place: readonly string[]
  readonly sessionId: string
  /** The servables inside of it, outermost first, whose memory this is. It is deleted with the session. */
  readonly member?: readonly string[] | undefined
}

/** The run that reads a session. */
export interface SessionReader {
  readonly runId?: string | undefined
  /** The provider of the model that gets the messages. */
  readonly provider?: string | undefined
}

/** Messages that a run appends. */
export interface SessionNote {
  readonly messages: readonly unknown[]
  readonly provider?: string | undefined
}

/** A turn that begins, or goes on. */
export interface BegunTurn extends Turn {
  /** Who sent its message. */
  readonly userId?: string | undefined
  /** The run goes on after its process died. */
  readonly goesOn?: boolean | undefined
  /** The id of the message in whose place this one comes, on a branch of its own. */
  readonly replaces?: string | undefined
  /** The run after whose turn this one comes, on a branch of its own if others do. */
  readonly branchFrom?: string | undefined
  /** The run whose turn must be the last one. */
  readonly ifHead?: string | undefined
  /** Whether its message may reach the run at work, instead of a turn of its own. */
  readonly steers?: boolean | undefined
}

/** The state of a session for a run that wants it. */
export interface Entered {
  /** The run that got the message of this one, which is over then. */
  readonly into?: string

  /** How many runs are before it. With 0 it has the session. */
  readonly place: number
  /** The ids of the runs that it stops. */
  readonly stops: readonly string[]
  /** Whether a later run stops this one. */
  readonly isStopped: boolean
  /** Whether its turn begins and is the first that lists may show. */
  readonly isFirst?: boolean
}

/** A run of a session, at work or waiting in this process. */
export interface LocalSessionRun {
  readonly runId: string
  stop(): void
  /** Checks again whether the session is free. */
  look(): void
}

/** The run that a turn belongs to. */
export interface TurnRun {
  readonly id: string
  readonly input: RunInput
  readonly options: MemoryOptions
  /** Whether the run has a record. */
  readonly isStored?: boolean | undefined
  readonly cancel: () => void
  /** The run that it continues. */
  readonly continuedFrom?: string | undefined
  /** Whether it goes on with its own turn after its process died. */
  readonly goesOn?: boolean | undefined
  /** Called when it has to wait for its session. */
  readonly onWait: () => void
}

/** The turn of a run, with what the run does with it. */
export interface OpenTurn extends OwnTurn, Steering {
  /** All that the run says if another one got its message; undefined if it has a turn of its own. */
  readonly instead: AsyncIterator<RunEvent> | undefined
  /** Joins the line, if it is not in it. Returns how many runs are before it. */
  join(): Promise<number>
  /** Resolves once the turn is written, or the run has left. Rejects if the run cannot have the session. */
  enter(): Promise<void>
  /** Adds an event to the turn. */
  see(event: RunEvent): void
  /** Ends the turn. Returns a promise for the stored end, which never rejects; undefined if there is nothing to store. */
  leave(event: FinishEvent | ErrorEvent, recorded?: Promise<void>): Promise<void> | undefined
  /** Stores nothing of the end here, because another process goes on with the run. */
  abandon(): void
}

/** The messages that clients send to a run at work. */
export interface Steering {
  /** Returns the messages that have come since the last call, in their order. Each message comes once. */
  take(): Promise<readonly SteeredMessage[]>
  /** Says that the run had these messages before its process died: they do not come again. */
  know(messages: readonly SteeredMessage[]): void
}

/** Where sessions are stored. */
export interface SessionStorage extends StateStorage<SessionKey> {
  /** Makes the turn of a run. */
  turnOf(key: SessionKey, target: MemoryServable, run: TurnRun): OpenTurn
  /** Returns the messages for a model. */
  read(key: SessionKey, reader?: SessionReader, signal?: AbortSignal): Promise<readonly unknown[]>
  append(key: SessionKey, note: SessionNote): Promise<void>
  turns(key: SessionKey, runId?: string): Promise<readonly Turn[]>
  tree(key: SessionKey): Promise<TurnTree>
  /** When the turn of a run may be deleted; undefined if there is none and the run does not wait for the session. */
  turnUntil(key: SessionKey, runId: string): Promise<number | undefined>
  /**
   * Joins the line, or keeps its position in it. The first in line has the session, and its turn begins. Throws `session_busy`,
   * and `session_changed` if the session is not as the turn asks.
   */
  enter(key: SessionKey, turn: BegunTurn): Promise<Entered>
  /** The run at work, and how many wait. Undefined if none is at work, or the input is too long for it. Throws `session_busy` if no more may wait. */
  atWork(key: SessionKey, input: RunInput): Promise<AtWork | undefined>
  /** The ids of the messages that a run has got, and of those that it may get. */
  steers(key: SessionKey, runId: string): Promise<readonly string[]>
  /** Gives a run the messages that wait for it, and returns all that it has got. `told` are the ids of those that its readers know of. */
  take(key: SessionKey, runId: string, told: readonly string[]): Promise<readonly SteeredMessage[]>
  /** Whether messages may reach runs at work. */
  readonly steering: 'never' | 'asked' | 'always'
  /** Renews the claim on the session. False if the run has to stop. */
  beat(key: SessionKey, runId: string): Promise<boolean>
  /** Leaves the line and stores how the turn ended, if it began. `turn` lacks its beginning where only the end is known. */
  leave(key: SessionKey, turn: EndedTurn, note?: SessionNote): Promise<void>
  /** Adds a run of this process until `release` is called. Later runs of the session then notify it. */
  join(key: SessionKey, run: LocalSessionRun): { readonly others: Iterable<LocalSessionRun>; release(): void }
  /** Milliseconds between two calls of `beat`. */
  readonly beatMs: number
  /** Called with the error when the end of a turn could not be stored. */
  failed(error: unknown): void
  /** Called when the first turn of a session has begun and after each end of a turn, so that lists stored elsewhere follow. */
  changed?: ((key: SessionKey) => Promise<void>) | undefined
}

/** The run that has a session. */
export interface AtWork {
  readonly runId: string
  /** How many runs wait for the session. */
  readonly waiting: number
}

/** How a turn ended. */
export type EndedTurn = TurnEnd &
  Pick<Turn, 'runId'> &
  Partial<Turn> & {
    /** The ids of the messages of which its readers know. What it got beside these starts the next turn. */
    readonly told?: readonly string[] | undefined
  }

/** The turn of a run, as its memory uses it. */
export interface OwnTurn {
  readonly key: SessionKey
  readonly runId: string
  /** The messages appended until now. */
  readonly messages: readonly unknown[]
  append(note: SessionNote): void
}

/** Where sessions and corrections are stored, and which servables are served. */
export interface MemoryStorage {
  /** Undefined if no sessions are stored. */
  readonly sessions: SessionStorage | undefined
  corrections(agent: string, owner: string, limit: number): Promise<readonly Correction[]>
  /** The name under which a servable is served by itself: `asked` if that is one of its names. Undefined if it is not served. */
  servedAs(servable: unknown, kind: Kind, asked: string): string | undefined
}

/** The servable that runs, under the name by which it was requested. */
export interface MemoryTarget extends MemoryServable {
  readonly servable: unknown
  /** The part of the service with its own names, if the servable belongs to one. */
  readonly scope?: string
}

/** The memory of a run. */
export function memoryOf(
  storage: MemoryStorage,
  target: MemoryTarget,
  options: MemoryOptions,
  own?: OwnTurn,
): RunMemory {
  // Lazy: most runs never read their memory.
  let here: Spot | undefined
  const find = () => {
    here ??= spotIn(storage, target)
    return here
  }
  return memoryAt(find, storage, options, own)
}

/** The options of a run that its memory reads. */
type MemoryOptions = RunCaller &
  RunKeys & {
    readonly steers?: boolean | undefined
    readonly history?: unknown
    readonly signal?: AbortSignal | undefined
  }

/** The session of a run; undefined if it has none. */
export function sessionOf(
  storage: MemoryStorage | undefined,
  target: MemoryTarget,
  options: RunCaller,
): SessionKey | undefined {
  const { sessionId } = options
  if (sessionId === undefined || storage?.sessions === undefined) return undefined
  return { owner: ownerOf(options) ?? null, place: spotIn(storage, target).place, sessionId }
}

function spotIn(storage: MemoryStorage, { kind, name, servable, scope = '' }: MemoryTarget): Spot {
  const served = storage.servedAs(servable, kind, name)
  const place = served === undefined ? [scope, label(kind, name)] : [label(kind, served)]
  return { servable, name: served ?? name, place, member: [] }
}

/** A running servable: its name, and its `place` and `member` as in {@link SessionKey}. */
interface Spot {
  readonly servable: unknown
  readonly name: string
  readonly place: readonly string[]
  readonly member: readonly string[]
}

function memoryAt(
  find: () => Spot,
  storage: MemoryStorage,
  options: MemoryOptions,
  own: OwnTurn | undefined,
): RunMemory {
  const { identity, sessionId, history, signal } = options
  const { sessions } = storage
  const spotOf = (servable: MemoryServable | undefined): Spot => {
    const here = find()
    if (servable === undefined || servable === here.servable) return here
    const { kind } = servable
    const served = storage.servedAs(servable, kind, servable.name)
    const name = served ?? servable.name
    const spot = { servable, name }
    return served === undefined
      ? { ...spot, place: here.place, member: [...here.member, label(kind, name)] }
      : { ...spot, place: [label(kind, name)], member: [] }
  }
  return {
    session(servable, provider) {
      // A run has one memory: the client's history, or the stored session.
      if (sessionId === undefined || sessions === undefined || history !== undefined) return undefined
      const { place, member, servable: whose } = spotOf(servable)
      const key = { owner: ownerOf(options) ?? null, place, sessionId, ...(member.length > 0 && { member }) }
      const model = provider ?? (whose as Partial<MemoryServable> | undefined)?.model?.provider
      const turn = own !== undefined && member.length === 0 && isSame(place, own.key.place) ? own : undefined
      return {
        async read() {
          const before = await sessions.read(key, { runId: own?.runId, provider: model }, signal)
          return turn === undefined ? before : [...before, ...turn.messages]
        },
        async append(messages) {
          const note = { messages: withoutKeys(messages, options), provider: model }
          if (turn !== undefined) turn.append(note)
          // A stopped run stores nothing more: its session may be deleted.
          else if (!signal?.aborted) await sessions.append(key, note)
        },
        turns: async () => (member.length > 0 ? [] : sessions.turns(key, own?.runId)),
      }
    },
    // Without an identity all callers would be one owner, so corrections of strangers are not read.
    corrections: async (agent, limit) =>
      identity === undefined ? [] : storage.corrections(spotOf(agent).name, identity, limit),
    nameOf: servable => spotOf(servable).name,
    states(run) {
      const { place, member } = find()
      const owner = ownerOf(options) ?? null
      const isOfSession = sessionId !== undefined && history === undefined
      // Calls of a run without a session know nothing of each other.
      const inner = isOfSession || run.call === '' ? member : [...member, run.call]
      const at = isOfSession ? { place, sessionId } : { place: [...place, OF_RUN], sessionId: run.first }
      const key = { owner, ...at, ...(inner.length > 0 && { member: inner }) }
      const hasTurn = isOfSession && own !== undefined && isSame(place, own.key.place)
      return sessions && statesOf(sessions, key, { run: run.runId, call: run.call, hasTurn })
    },
    inside(servable) {
      const spot = spotOf(servable)
      return memoryAt(() => spot, storage, options, own)
    },
  }
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((part, index) => part === other[index])
}

function label(kind: Kind, name: string): string {
  return `${kind}:${name}`
}

/**
 * Returns the owner of a run's memory; undefined for none. The name is escaped, so that it cannot equal another owner's. A
 * claimed user id never equals an identity.
 */
export function ownerOf({ userId, identity }: Pick<RunCaller, 'userId' | 'identity'>): string | undefined {
  if (identity !== undefined) return escaped(identity)
  return userId === undefined ? undefined : `/${escaped(userId)}`
}

/** Escapes text as a part of an id, so that it has no slash. */
export function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** The id of a session in a framework's own memory. */
export function threadIdOf(owner: string | null | undefined, sessionId: string): string {
  return owner == null ? escaped(sessionId) : `${owner}/${escaped(sessionId)}`
}
