/**
 * A checkpointer of LangGraph over the states of our session.
 *
 * @module
 */

import type { ConversationStates, FoundStates, KeptState, StateWrite } from '../../../agents/states.ts'
import { ServableError } from '../../../base/errors.ts'
import { fieldsOf, listIn, textIn, type UnknownFields } from '../fields.ts'
import { type KeptValue, namesIn, Parts, restored } from './langgraph-parts.ts'
import { revived, type ToMessage, toText } from './langgraph-values.ts'

/** A checkpoint with all that belongs to it, as LangGraph takes it. */
interface CheckpointTuple {
  readonly config: object
  readonly checkpoint: UnknownFields
  readonly metadata: unknown
  readonly parentConfig?: object
  readonly pendingWrites: readonly PendingWrite[]
}

type PendingWrite = readonly [task: string, channel: string, value: unknown]

/** What is stored of a checkpoint. */
interface Body {
  /** Without the values of its channels. */
  readonly checkpoint: unknown
  readonly metadata: unknown
  readonly values: Readonly<Record<string, KeptValue>>
}

/** What is stored of a write. */
interface WriteBody {
  readonly task: string
  readonly path: string
  readonly index: number
  readonly channel: string
  readonly value: KeptValue
}

/** A checkpoint whose unchanged values the next one takes over. */
interface Known {
  readonly versions: UnknownFields
  readonly values: Body['values']
}

/** The most checkpoints whose values are taken over: of each graph at work its last one. */
const MAX_KNOWN = 32

/** Checkpoints per read of a list. */
const PAGE = 10

/** Writes until all parts are there. */
const TRIES = 3

/** The places of writes that LangGraph writes again. */
const PLACES: ReadonlyMap<string, number> = new Map([
  ['__error__', -1],
  ['__scheduled__', -2],
  ['__interrupt__', -3],
  ['__resume__', -4],
])

/** How the checkpointer is used. */
interface SaverOptions {
  readonly toMessage: ToMessage
  /** The checkpoint at which it begins. Default: the newest one of the branch. */
  readonly start?: string | undefined
  /** Whether the call that it is of has begun before. */
  readonly goesOn?: boolean
}

/** The checkpointer of one run. Without a checkpoint in the config it goes on where it has written last. */
export class Saver {
  readonly #states: ConversationStates
  readonly #options: SaverOptions
  readonly #parts = new Parts()
  readonly #last = new Map<string, string>()
  readonly #known = new Map<string, Known>()
  #edition: number | undefined
  /** What is written last. Each call waits for the one before it. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(states: ConversationStates, options: SaverOptions) {
    this.#states = states
    this.#options = options
  }

  /** The id of the last checkpoint of a graph. */
  lastIn(namespace: string): string | undefined {
    return this.#last.get(namespace)
  }

  /** LangGraph writes its configuration as JSON. */
  toJSON(): string {
    return '[Saver]'
  }

  getNextVersion(current: unknown): number {
    return nextVersion(current)
  }

  async get(config: unknown): Promise<UnknownFields | undefined> {
    return (await this.getTuple(config))?.checkpoint
  }

  async getTuple(config: unknown): Promise<CheckpointTuple | undefined> {
    const { thread, namespace, id } = placeIn(config)
    return this.#inTurn(async () => {
      const found = await this.#read(namespace, id ?? this.#last.get(namespace))
      this.#learn(found)
      const [state] = found.states
      if (state === undefined) return undefined
      if (id === undefined) this.#last.set(namespace, state.id)
      return this.#tupleOf(state, found, thread)
    })
  }

  /** Reads a state; without an id the one at which the call is, or else begins. */
  async #read(space: string, id: string | undefined): Promise<FoundStates> {
    const { start, goesOn = false } = this.#options
    if (id !== undefined) return this.#states.read({ space, id })
    if (space !== '' || start === undefined)
      return this.#states.read({ space, own: goesOn ? 'first' : undefined })
    const own = goesOn ? await this.#states.read({ space, own: 'only' }) : undefined
    return own?.states.length ? own : this.#states.read({ space, id: start })
  }

  async *list(config: unknown, options: unknown): AsyncGenerator<CheckpointTuple> {
    const { thread, namespace, id } = placeIn(config)
    const { limit, before, filter } = fieldsOf(options)
    let left = typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY
    let position = placeIn(before).id
    while (left > 0) {
      const list = { before: position, limit: PAGE }
      const found = await this.#states.read({ space: namespace, ...(id === undefined ? { list } : { id }) })
      for (const state of found.states) {
        const tuple = this.#tupleOf(state, found, thread)
        position = state.id
        if (left <= 0 || !fits(tuple.metadata, filter)) continue
        left--
        yield tuple
      }
      if (id !== undefined || found.states.length < PAGE) return
    }
  }

  async put(config: unknown, checkpoint: unknown, metadata: unknown): Promise<object> {
    const { thread, namespace, id: parent } = placeIn(config)
    const { channel_values: values, ...rest } = fieldsOf(checkpoint)
    const id = String(rest.id)
    const versions = fieldsOf(rest.channel_versions)
    await this.#inTurn(async () => {
      const kept = await this.#write(namespace, async () => {
        const kept = await this.#keptOf(fieldsOf(values), versions, parent)
        const body = `{"checkpoint":${toText(rest)},"metadata":${toText(metadata)},"values":${JSON.stringify(kept)}}`
        const parts = Object.values(kept).flatMap(namesIn)
        return { kept, state: { id, parent, body, parts, writes: [] } }
      })
      this.#last.set(namespace, id)
      this.#know(id, { versions, values: kept })
    })
    return configOf(thread, namespace, id)
  }

  async putWrites(config: unknown, writes: unknown, task: string, path: string = ''): Promise<void> {
    const { namespace, id = '' } = placeIn(config)
    await this.#inTurn(() =>
      this.#write(namespace, async () => {
        const kept: StateWrite[] = []
        for (const [at, write] of listIn(writes).entries()) {
          const [channel, value] = listIn(write)
          const index = PLACES.get(String(channel)) ?? at
          const body = { task, path, index, channel: String(channel), value: await this.#parts.keep(value) }
          kept.push({
            ...{ key: `${task},${index}`, isFirm: index >= 0, body: JSON.stringify(body) },
            parts: namesIn(body.value),
          })
        }
        return { kept: undefined, state: { id, parts: [], writes: kept } }
      }),
    )
  }

  async deleteThread(): Promise<void> {
    throw new ServableError('unsupported_operation', 'The states of a graph are deleted with their session')
  }

  /** The writes of channels that are stored as their changes, and the last whole value before these. */
  async getDeltaChannelHistory({ config, channels }: DeltaQuery): Promise<Record<string, object>> {
    const found = new Map(
      channels.map(channel => [
        channel,
        { writes: [] as PendingWrite[], seed: undefined as unknown[] | undefined },
      ]),
    )
    const open = new Set(channels)
    let at: unknown = channels.length === 0 ? undefined : (await this.getTuple(config))?.parentConfig
    while (at !== undefined && open.size > 0) {
      const tuple = await this.getTuple(at)
      const values = fieldsOf(tuple?.checkpoint.channel_values)
      for (const channel of open) {
        const history = found.get(channel)
        const own = (tuple?.pendingWrites ?? []).filter(write => write[1] === channel)
        history?.writes.unshift(...own)
        if (history === undefined || !Object.hasOwn(values, channel)) continue
        history.seed = [values[channel]]
        open.delete(channel)
      }
      at = tuple?.parentConfig
    }
    const entries = [...found].map(([channel, { writes, seed }]) => [
      channel,
      { writes, ...(seed && { seed: seed[0] }) },
    ])
    return Object.fromEntries(entries)
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => {})
    return turn
  }

  /** The values of a checkpoint. Those of unchanged channels are the ones of its parent. */
  async #keptOf(
    values: UnknownFields,
    versions: UnknownFields,
    parent: string | undefined,
  ): Promise<Body['values']> {
    const before = this.#known.get(parent ?? '')
    const kept: [string, KeptValue][] = []
    for (const [channel, value] of Object.entries(values)) {
      const isSame = before !== undefined && before.versions[channel] === versions[channel]
      kept.push([channel, (isSame ? before.values[channel] : undefined) ?? (await this.#parts.keep(value))])
    }
    return Object.fromEntries(kept)
  }

  /** Writes a state, again with all parts if some are missing. */
  async #write<T>(
    space: string,
    make: () => Promise<{ kept: T; state: Omit<KeptState, 'space'> }>,
  ): Promise<T> {
    for (let tries = 0; tries < TRIES; tries++) {
      const { kept, state } = await make()
      const parts = this.#parts.fresh
      const edition = await this.#states.write({
        ...{ state: { ...state, space }, edition: this.#edition, parts },
      })
      if (edition !== undefined) {
        this.#isOf(edition)
        this.#parts.stored(Object.keys(parts))
        return kept
      }
      this.#isOf(undefined)
    }
    throw new ServableError('state_unavailable', 'The state of the graph is deleted while it is written')
  }

  /** Forgets what is stored if parts were deleted since. */
  #isOf(edition: number | undefined): void {
    if (edition !== undefined && edition === this.#edition) return
    this.#edition = edition
    this.#parts.forget()
    this.#known.clear()
  }

  #learn({ edition, parts }: FoundStates): void {
    this.#isOf(edition)
    this.#parts.stored(Object.keys(parts))
  }

  #know(id: string, known: Known): void {
    this.#known.delete(id)
    this.#known.set(id, known)
    for (const [oldest] of this.#known) if (this.#known.size > MAX_KNOWN) this.#known.delete(oldest)
  }

  #tupleOf(state: KeptState, { parts }: FoundStates, thread: unknown): CheckpointTuple {
    const { toMessage } = this.#options
    const { checkpoint, metadata, values } = JSON.parse(state.body ?? '{}') as Body
    const rest = fieldsOf(revived(checkpoint, toMessage))
    this.#know(state.id, { versions: fieldsOf(rest.channel_versions), values })
    const channels = Object.entries(values).map(([name, kept]) => [name, restored(kept, parts, toMessage)])
    const writes = state.writes.map(({ body }) => JSON.parse(body) as WriteBody).sort(byPlace)
    return {
      config: configOf(thread, state.space, state.id),
      checkpoint: { ...rest, channel_values: Object.fromEntries(channels) },
      // The metadata of LangGraph's own server has it too.
      metadata: {
        ...fieldsOf(revived(metadata, toMessage)),
        ...(state.run !== undefined && { run_id: state.run }),
      },
      ...(state.parent !== undefined && { parentConfig: configOf(thread, state.space, state.parent) }),
      pendingWrites: writes.map(({ task, channel, value }) => [
        ...([task, channel] as const),
        restored(value, parts, toMessage),
      ]),
    }
  }
}

interface DeltaQuery {
  readonly config: unknown
  readonly channels: readonly string[]
}

/** The version of a channel after this one. */
export function nextVersion(current: unknown): number {
  return typeof current === 'number' ? current + 1 : 1
}

/** The place in a thread that a configuration names. */
export function placeIn(config: unknown): { thread: unknown; namespace: string; id: string | undefined } {
  const { thread_id, checkpoint_ns, checkpoint_id, thread_ts } = fieldsOf(fieldsOf(config).configurable)
  return {
    thread: thread_id,
    namespace: textIn(checkpoint_ns) ?? '',
    id: textIn(checkpoint_id) ?? textIn(thread_ts),
  }
}

export function configOf(thread: unknown, namespace: string, id: string | undefined): object {
  return { configurable: { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: id } }
}

function fits(metadata: unknown, filter: unknown): boolean {
  return Object.entries(fieldsOf(filter)).every(([name, value]) => fieldsOf(metadata)[name] === value)
}

/** The order in which a graph applies the writes of a step. */
function byPlace(one: WriteBody, other: WriteBody): number {
  return compare(one.path, other.path) || compare(one.task, other.task) || Math.sign(one.index - other.index)
}

/** Compares texts by their code points. */
function compare(one: string, other: string): number {
  const [left, right] = [[...one], [...other]]
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const by = Number(left[at]?.codePointAt(0)) - Number(right[at]?.codePointAt(0))
    if (by !== 0) return by
  }
  return left.length - right.length
}
