/**
 * The states that a framework keeps of a conversation, such as the checkpoints of a graph. They are stored with the session, and deleted
 * with it. What is the same in two states is stored once: a state names its parts by their content.
 *
 * @module
 */

/** Parts of states by their names. The name of a list of other parts begins with `p`, and its text is their names as JSON. */
export type StateParts = Readonly<Record<string, string>>

/** The name of a part, with the number of its characters after the last dot. */
export function partName(kind: string, digest: string, text: string): string {
  return `${kind}${digest}.${text.length.toString(36)}`
}

/** A write to a state, by a task that is done before all of its step are. */
export interface StateWrite {
  /** Unique in the state. */
  readonly key: string
  /** Whether it stays if there is one already. */
  readonly isFirm: boolean
  /** JSON. */
  readonly body: string
  readonly parts: readonly string[]
}

/** A state of a conversation. */
export interface KeptState {
  /** The part of the framework's agent whose state it is. Empty for the agent itself. */
  readonly space: string
  /** Later states of a space have greater ids. */
  readonly id: string
  readonly parent?: string | undefined
  /** The run that wrote it, and the path of the call in that run. */
  readonly run?: string | undefined
  readonly call?: string | undefined
  /** JSON. Absent while only writes of it are known. */
  readonly body?: string | undefined
  /** The parts that the body names. */
  readonly parts: readonly string[]
  readonly writes: readonly StateWrite[]
}

/** Which states to read. */
export interface StateQuery {
  readonly space: string
  /** The state of this id. Default: the newest one of the branch. */
  readonly id?: string | undefined
  /** A list of all states of the space instead, newest first. */
  readonly list?: { readonly before?: string | undefined; readonly limit: number } | undefined
  /** Whether the newest state of this very call goes before the newest one of the branch, or is the only one to read. */
  readonly own?: 'first' | 'only' | undefined
}

/** States with all of their parts. */
export interface FoundStates {
  /** Changes when parts were deleted. Undefined if nothing is stored. */
  readonly edition: number | undefined
  readonly states: readonly KeptState[]
  readonly parts: StateParts
}

/** A state to write, with the parts that may be new. */
export interface StateUpdate {
  readonly state: Omit<KeptState, 'run' | 'call'>
  /** The edition of which the parts are known that do not come with it. */
  readonly edition: number | undefined
  readonly parts: StateParts
}

/** Where one conversation of an agent keeps its states. */
export interface ConversationStates {
  read(query: StateQuery): Promise<FoundStates>
  /**
   * Resolves with the edition once the state is stored. Undefined if nothing is stored since parts are missing: write again with all
   * parts. Throws `run_too_large` if the states of the conversation are too large.
   */
  write(update: StateUpdate): Promise<number | undefined>
  /** The states of a run without a session are kept some minutes more. Those of a session stay with it. */
  release(): Promise<void>
}

/** The run that keeps states. */
export interface StateRun {
  /** The first run of those that go on with each other. */
  readonly first: string
  readonly runId: string
  /** The path of the call in the run; empty at the top. */
  readonly call: string
}

/** Who reads or writes states of a session. */
export interface StateSide {
  readonly run?: string | undefined
  readonly call?: string | undefined
  /** Whether the run has a turn in this very session. Without the session nothing is stored of it then. */
  readonly hasTurn: boolean
  /** Whether a caller asks, and no run. Without an owner it has only sessions with an id from the service. */
  readonly isCaller?: boolean | undefined
}

/** The end of the place of runs without a session. Their id is that of the first run. */
export const OF_RUN = 'run'

/** Where states are stored, by the keys of sessions. */
export interface StateStorage<Key> {
  readStates(key: Key, query: StateQuery, side: StateSide): Promise<FoundStates>
  writeState(key: Key, update: StateUpdate, side: StateSide): Promise<number | undefined>
  /** Says that a run without a session needs its states no longer. */
  releaseStates(key: Key): Promise<void>
  /** Deletes the states of a run without a session. */
  forgetStates(key: Key): Promise<void>
}

/** The states at a key, as one side sees them. */
export function statesOf<Key extends { readonly place: readonly string[] }>(
  sessions: StateStorage<Key>,
  key: Key,
  side: StateSide,
): ConversationStates {
  return {
    read: query => sessions.readStates(key, query, side),
    write: update => sessions.writeState(key, update, side),
    release: async () => {
      if (key.place.at(-1) === OF_RUN) await sessions.releaseStates(key)
    },
  }
}
