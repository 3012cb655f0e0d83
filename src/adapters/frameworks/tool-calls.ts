import type { RunEvent } from '../../agents/contract.ts'
import { withThrown } from '../../agents/thrown.ts'
import { textIn } from './fields.ts'

/** The end of a tool call. */
export type CallEnd =
  | { readonly result: unknown }
  | { readonly error: string; readonly code?: string | undefined }

/** One call, as far as its events were sent. */
interface Told {
  /** The id in the events: the call's own id, unless an earlier call had it. */
  readonly id: string
  hasArgs: boolean
  isReady: boolean
  hasEnded: boolean
}

/**
 * Tells tool calls as events: each starts once, has its arguments once, is ready once and ends once, however often it is told. An id that
 * begins again after its call has ended is another call: some models count from `call_0` in every step.
 */
export class ToolCalls {
  readonly #nameOf: (name: string) => string
  /** The newest call of each id. */
  readonly #told = new Map<string, Told>()

  constructor(nameOf: (name: string) => string = name => name) {
    this.#nameOf = nameOf
  }

  /** Whether a call of this id has started. */
  has(id: string): boolean {
    return this.#told.has(id)
  }

  /** The id by which the newest call of an id is told. */
  idOf(id: string): string {
    return this.#told.get(id)?.id ?? id
  }

  /** The call begins. */
  *start(id: string, name: unknown): Generator<RunEvent> {
    const before = this.#told.get(id)
    if (before?.hasEnded === false) return
    const call = { id: before ? crypto.randomUUID() : id, hasArgs: false, isReady: false, hasEnded: false }
    this.#told.set(id, call)
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

  /** The arguments are complete: any JSON. */
  *ready(id: string, args: unknown): Generator<RunEvent> {
    const call = this.#running(id)
    if (call === undefined || call.isReady) return
    call.isReady = true
    yield { type: 'tool_call_ready', toolCallId: call.id, ...(args !== undefined && { args }) }
  }

  /** The whole call: what was not told of it yet. `args` is any JSON. */
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

  #running(id: string): Told | undefined {
    const call = this.#told.get(id)
    return call?.hasEnded ? undefined : call
  }
}
