/**
 * The stream of a run as frames of LangGraph. The number of a frame depends on the event alone, so that a client can go on after any of
 * them, with other modes too.
 *
 * @module
 */

import type { Encoder, FinishEvent, RunEvent } from '../../core-entry.ts'
import { misfit } from '../encoders/index.ts'
import type { GraphState, GraphStates } from './graph-states.ts'
import { type Interrupt, interruptsOf } from './interrupts.ts'
import type { Before, ThreadMessage } from './messages.ts'
import {
  type AiDraft,
  aiMessage,
  type CallDraft,
  type Change,
  openCallsIn,
  RunMessages,
  usageMetadata,
  withEdits,
} from './run-messages.ts'

/** The modes of a stream. `tools`, `debug`, `checkpoints` and `events` are accepted, and give no frames of their own. */
const MODES = [
  ...['values', 'messages', 'messages-tuple', 'updates', 'custom', 'tasks'],
  ...['tools', 'debug', 'checkpoints', 'events'],
] as const

type Mode = (typeof MODES)[number]

/** The modes that a client asks for. Default: `values`. Throws `invalid_body`. */
export function modesIn(value: unknown): ReadonlySet<string> {
  const asked = value === undefined || value === null ? ['values'] : [value].flat()
  for (const mode of asked) {
    if (!MODES.includes(mode as Mode)) throw misfit('stream_mode', `must be of ${MODES.join(', ')}`)
  }
  return new Set(asked as Mode[])
}

/** The run to encode. */
export interface Framed {
  readonly runId: string
  readonly modes: ReadonlySet<string>
  /** Reads what was before it, once the run has begun. */
  readonly before: () => Promise<Before> | Before
  /** The states of its graph, if it is one. Then the values are those. */
  readonly graph?: Pick<GraphStates, 'at' | 'end'> | undefined
  /** The number of the last frame that the client has. Default: none. */
  readonly known?: number | undefined
}

/** The numbers that one event of a run may use for its frames. */
const PER_EVENT = 1000

/** A partial message is sent again once it has grown by this share. So all that is sent is at most so many times its length. */
const GROWTH = 64

/** Encodes one run. */
export class RunFrames implements Encoder {
  readonly #run: Framed
  readonly #known: number
  #messages: RunMessages
  #before: Before | undefined
  /** The messages before it as JSON, without brackets. */
  #beforeJson = ''
  #state: GraphState | undefined
  /** The state with which a run goes on, until that is told. */
  #goesOnWith: GraphState | undefined
  #hasCheckpoint = false
  #position = 0
  #number = 0
  #out = ''
  /** The characters of the last partial message. */
  #partial = 0

  constructor(run: Framed) {
    this.#run = run
    this.#known = run.known ?? -1
    this.#messages = new RunMessages(run.runId)
  }

  prepare(event: RunEvent): Promise<void> | undefined {
    const { before } = this.#run
    const reads = [
      ...(this.#before === undefined ? [readNow(before(), read => this.#start(read))] : []),
      this.#readState(event),
    ].filter(each => each !== undefined)
    return reads.length === 0 ? undefined : Promise.all(reads).then(() => undefined)
  }

  /** Reads the state that the graph has at an event, if that is to be told. */
  #readState(event: RunEvent): Promise<void> | undefined {
    const { graph, modes, runId } = this.#run
    if (graph === undefined) return undefined
    if (event.type === 'finish' || event.type === 'error') {
      return graph.end(runId).then(state => {
        this.#state = state
      })
    }
    return isCheckpoint(event) && modes.has('values') ? this.#readCheckpoint(graph, event.id) : undefined
  }

  async #readCheckpoint(graph: Pick<GraphStates, 'at'>, id: string): Promise<void> {
    this.#state = await graph.at(id)
    const { isBeforeInput, parentId } = this.#state
    // A run that goes on has no input: what was before its first checkpoint comes first.
    if (!this.#hasCheckpoint && !isBeforeInput && parentId !== undefined)
      this.#goesOnWith = await graph.at(parentId)
    this.#hasCheckpoint = true
  }

  encode(event: RunEvent, position: number): string {
    this.#out = ''
    // A run that is not stored has nothing to wait for.
    if (this.#before === undefined) void this.prepare(event)
    if (this.#position === 0) this.#begin()
    // An error that is in no log comes last.
    this.#position = position > 0 ? position : this.#position + 1
    this.#number = this.#position * PER_EVENT
    // The pieces of a text became one event after its end. What the client has of it is not known: the values tell.
    const isJoined = event.until !== undefined && this.#number > this.#known && this.#known >= PER_EVENT
    const changes = this.#messages.add(event)
    for (const change of changes) this.#change(change, isJoined)
    const isStep = changes.some(({ type }) => type === 'closed' || type === 'whole')
    if (isCheckpoint(event)) this.#valuesBefore()
    if (isCheckpoint(event) || event.type === 'finish' || (isStep && this.#run.graph === undefined))
      this.#values()
    this.#event(event)
    return this.#out
  }

  #start(before: Before): void {
    this.#before = before
    this.#messages = new RunMessages(this.#run.runId, openCallsIn(before.messages))
    this.#beforeJson = jsonOf(before.messages)
  }

  #begin(): void {
    const { runId } = this.#run
    const { messages = [], own: count = 0 } = this.#before ?? {}
    const own = messages.slice(messages.length - count)
    this.#number = 0
    this.#frame('', 'metadata', () => ({ run_id: runId, attempt: 1 }))
    this.#values()
    for (const message of own) this.#frame('messages', 'messages/complete', () => [message])
    this.#frame('tasks', 'tasks', () => ({
      ...{ id: runId, name: 'agent', input: { messages: own } },
      ...{ triggers: ['branch:to:agent'], interrupts: [], metadata: {} },
    }))
  }

  #event(event: RunEvent): void {
    switch (event.type) {
      case 'step':
      case 'artifact': {
        const { at: _, until: __, ...custom } = event
        return this.#frame('custom', 'custom', () => custom)
      }
      case 'finish':
        return this.#finish(this.interruptsIn(event))
      case 'error':
        this.#frame('tasks', 'tasks', () => ({
          id: this.#run.runId,
          name: 'agent',
          error: event.error,
          interrupts: [],
        }))
        return this.#frame('', 'error', () => ({ error: event.code, message: event.error }))
      default:
    }
  }

  /** What a run waits for. */
  interruptsIn({ requests }: FinishEvent): readonly Interrupt[] {
    return this.#state?.interrupts ?? interruptsOf(this.#run.runId, requests)
  }

  #finish(interrupts: readonly Interrupt[]): void {
    if (interrupts.length > 0) {
      // These alone, as clients keep what they have.
      this.#frame('updates', 'updates', () => ({ __interrupt__: interrupts }))
      this.#frame('values', 'values', () => ({ __interrupt__: interrupts }))
    }
    const { messages } = this.#messages
    this.#frame('tasks', 'tasks', () => ({
      id: this.#run.runId,
      name: 'agent',
      result: { messages },
      interrupts,
    }))
  }

  #change(change: Change, isJoined: boolean): void {
    switch (change.type) {
      case 'text':
      case 'thinking':
        if (!isJoined) this.#chunk(change.message, contentOf(change))
        return this.#partially(change.message)
      case 'call':
        if (!isJoined) this.#chunk(change.message, callChunk(change))
        return this.#partially(change.message)
      case 'part':
        // Clients of AG-UI end a text, and a call, at such a chunk.
        return this.#chunk(change.message, { content: '', response_metadata: { finish_reason: 'stop' } })
      case 'closed':
        return this.#closed(change.message)
      case 'whole':
        return this.#whole(change.message)
    }
  }

  #chunk({ id, name }: AiDraft, fields: object): void {
    const chunk = { type: 'AIMessageChunk', id, ...(name !== undefined && { name }), ...fields }
    this.#tuple(chunk, 'agent')
  }

  #tuple(message: object, node: string): void {
    const { runId } = this.#run
    const about = `{"langgraph_node":"${node}","run_id":"${runId}"}`
    this.#frame('messages-tuple', 'messages', undefined, () => `[${JSON.stringify(message)},${about}]`)
  }

  #partially(message: AiDraft): void {
    const length =
      message.text.length +
      message.thinking.length +
      message.calls.reduce((sum, { args }) => sum + args.length + 1, 0)
    const isFirst = this.#partial === 0
    if (isFirst) {
      this.#frame('messages', 'messages/metadata', () => ({
        [message.id]: { metadata: { langgraph_node: 'agent', run_id: this.#run.runId } },
      }))
    }
    const isDue = isFirst || length - this.#partial > this.#partial / GROWTH
    if (isDue) this.#partial = length
    // The number is used in any case, so that others stay.
    this.#frame(isDue ? 'messages' : undefined, 'messages/partial', () => [aiMessage(message)])
  }

  #closed(message: AiDraft): void {
    this.#partial = 0
    const { usage, calls } = message
    if (usage !== undefined && calls.length === 0)
      this.#chunk(message, { content: '', usage_metadata: usageMetadata(usage) })
    const whole = aiMessage(message)
    this.#frame('messages', 'messages/complete', () => [whole])
    this.#frame('updates', 'updates', () => ({ agent: { messages: [whole] } }))
  }

  #whole(message: ThreadMessage): void {
    this.#frame('messages', 'messages/complete', () => [message])
    if (message.type === 'tool') {
      this.#tuple(message, 'tools')
      this.#frame('updates', 'updates', () => ({ tools: { messages: [message] } }))
    } else this.#tuple(message, 'agent')
  }

  #values(): void {
    // A graph's own messages have other ids than ours, so its values come once they are known.
    const isKnown = this.#run.graph === undefined || this.#state?.isBeforeInput === false
    this.#frame(isKnown ? 'values' : undefined, 'values', undefined, () => this.values)
  }

  #valuesBefore(): void {
    const before = this.#goesOnWith?.values
    this.#goesOnWith = undefined
    this.#frame(before === undefined ? undefined : 'values', 'values', undefined, () => before ?? '')
  }

  /** The whole state. */
  get values(): string {
    if (this.#state !== undefined) return this.#state.values
    const { messages, edited, structured } = this.#messages
    const before =
      edited.size === 0 ? this.#beforeJson : jsonOf(withEdits(this.#before?.messages ?? [], edited))
    const all = [before, jsonOf(messages)].filter(each => each !== '').join(',')
    const more = structured === undefined ? '' : `,"structured_response":${JSON.stringify(structured)}`
    return `{"messages":[${all}]${more}}`
  }

  /** Writes a frame, if its mode is asked for and the client does not have it. `''`: of every mode. Undefined: of none. */
  #frame(mode: string | undefined, name: string, data?: () => object, json?: () => string): void {
    const id = this.#number++
    if (mode === undefined || id <= this.#known || (mode !== '' && !this.#run.modes.has(mode))) return
    this.#out += `event: ${name}\ndata: ${json ? json() : JSON.stringify(data?.())}\nid: ${id}\n\n`
  }
}

/** Whether a graph has stored a checkpoint of its own. */
function isCheckpoint(event: RunEvent): event is Extract<RunEvent, { type: 'checkpoint' }> {
  return event.type === 'checkpoint' && event.namespace === undefined
}

/** The messages without brackets. */
function jsonOf(messages: readonly ThreadMessage[]): string {
  return JSON.stringify(messages).slice(1, -1)
}

function contentOf({ message, type, delta }: Extract<Change, { type: 'text' | 'thinking' }>): object {
  if (message.thinking === '') return { content: delta }
  const block = type === 'text' ? { type, text: delta, index: 1 } : { type, thinking: delta, index: 0 }
  return { content: [block] }
}

function callChunk({ call, delta, isFirst }: { call: CallDraft; delta: string; isFirst: boolean }): object {
  const { index, id, name } = call
  const chunk = { index, ...(isFirst && { id, name }), args: delta, type: 'tool_call_chunk' }
  return { content: '', tool_call_chunks: [chunk] }
}

/** The whole answer of a run as one JSON text, for clients that wait for it. */
export class RunValues implements Encoder {
  readonly #frames: RunFrames

  constructor(run: Omit<Framed, 'modes' | 'known'>) {
    this.#frames = new RunFrames({ ...run, modes: new Set(), known: Number.POSITIVE_INFINITY })
  }

  prepare(event: RunEvent): Promise<void> | undefined {
    return this.#frames.prepare(event)
  }

  encode(event: RunEvent, position: number): string {
    this.#frames.encode(event, position)
    if (event.type === 'error')
      return JSON.stringify({ __error__: { error: event.code, message: event.error } })
    if (event.type !== 'finish') return ''
    const interrupts = this.#frames.interruptsIn(event)
    const { values } = this.#frames
    const more = values === '{}' ? '' : ','
    return interrupts.length === 0
      ? values
      : `${values.slice(0, -1)}${more}"__interrupt__":${JSON.stringify(interrupts)}}`
  }
}

/** Passes on what is read, at once if it is there. */
function readNow<T>(read: T | Promise<T>, take: (read: T) => void): Promise<void> | undefined {
  if (read instanceof Promise) return read.then(take)
  take(read)
  return undefined
}
