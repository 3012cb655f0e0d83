import type { RunEvent } from '../../agents/contract.ts'
import { withThrown } from '../../agents/thrown.ts'
import { textIn } from './fields.ts'

/** The end of a tool call. */
export type CallEnd =
  | { readonly result: unknown }
  | { readonly error: string; readonly code?: string | undefined }

/** The state of one call in the events sent. */
interface CallState {
  /** The id in the events: the call's own id, unless an earlier call had it. */
  readonly id: string
  hasArgs: boolean
  isReady: boolean
  hasEnded: boolean
}

/**
 * Makes the events of tool calls: each call starts once, has its arguments once, is ready once and ends once, however often the
 * framework reports it. An id that begins again after its call has ended is another call: some models count from `call_0` in
 * every step.
 */
export class ToolCalls {
  readonly #nameOf: (name: string) => string
  /** The newest call of each id. */
  readonly #calls = new Map<string, CallState>()

  constructor(nameOf: (name: string) => string = name => name) {
    this.#nameOf = nameOf
  }

  /** Whether a call of this id has started. */
  has(id: string): boolean {
    return this.#calls.has(id)
  }

  /** The id in the events of the newest call of an id. */
  idOf(id: string): string {
    return this.#calls.get(id)?.id ?? id
  }

  /** Starts a call. */
  *start(id: string, name: unknown): Generator<RunEvent> {
    const before = this.#calls.get(id)
    if (before?.hasEnded === false) return
    const call = { id: before ? crypto.randomUUID() : id, hasArgs: false, isReady: false, hasEnded: false }
    this.#calls.set(id, call)
    yield {
      type: 'tool_call_start',
      toolCall: { id: call.id, name: this.#nameOf(textIn(name) ?? 'unknown') },
    }
  }

  /** Adds a piece of the arguments, as JSON text. */
  *args(id: string, piece: unknown): Generator<RunEvent> {
    const argumentsDelta = textIn(piece)
    const call = this.#running(id)
    if (argumentsDelta === undefined || call === undefined) return
    call.hasArgs = true
    yield { type: 'tool_call_delta', toolCallId: call.id, argumentsDelta }
  }

  /** Marks the arguments as complete: any JSON. */
  *ready(id: string, args: unknown): Generator<RunEvent> {
    const call = this.#running(id)
    if (call === undefined || call.isReady) return
    call.isReady = true
    yield { type: 'tool_call_ready', toolCallId: call.id, ...(args !== undefined && { args }) }
  }

  /** Sends the whole call, without the events that were sent already. `args` is any JSON. */
  *whole(id: string, name: unknown, args: unknown): Generator<RunEvent> {
    yield* this.start(id, name)
    if (args !== undefined && !this.#running(id)?.hasArgs) yield* this.args(id, JSON.stringify(args))
    yield* this.ready(id, args)
  }

  /** Ends a call. A call that never started has no end. `thrown` is its error, for the log. */
  *end(id: string, how: CallEnd, thrown?: unknown): Generator<RunEvent> {
    const call = this.#running(id)
    if (call === undefined) return
    call.hasEnded = true
    yield withThrown({ type: 'tool_call_end', toolCallId: call.id, ...how }, thrown)
  }

  #running(id: string): CallState | undefined {
    const call = this.#calls.get(id)
    return call?.hasEnded ? undefined : call
  }
}
