import type { RunEvent } from '../agents/contract.ts'
import { textIn } from './fields.ts'

/** How a tool call ended. */
export type CallEnd =
  | { readonly result: unknown }
  | { readonly error: string; readonly code?: string | undefined }

/** Tells tool calls as events: each starts once, has its arguments once and ends once, however often it is told. */
export class ToolCalls {
  readonly #nameOf: (name: string) => string
  readonly #started = new Set<string>()
  readonly #withArgs = new Set<string>()
  readonly #ended = new Set<string>()

  constructor(nameOf: (name: string) => string = name => name) {
    this.#nameOf = nameOf
  }

  /** The call begins. */
  *start(id: string, name: unknown): Generator<RunEvent> {
    if (this.#started.has(id)) return
    this.#started.add(id)
    yield { type: 'tool_call_start', toolCall: { id, name: this.#nameOf(textIn(name) ?? 'unknown') } }
  }

  /** A piece of the arguments, as JSON text. */
  *args(id: string, piece: unknown): Generator<RunEvent> {
    const argumentsDelta = textIn(piece)
    if (argumentsDelta === undefined || !this.#started.has(id)) return
    this.#withArgs.add(id)
    yield { type: 'tool_call_delta', toolCallId: id, argumentsDelta }
  }

  /** The whole call: what was not told of it yet. `args` is any JSON. */
  *whole(id: string, name: unknown, args: unknown): Generator<RunEvent> {
    yield* this.start(id, name)
    if (args !== undefined && !this.#withArgs.has(id)) yield* this.args(id, JSON.stringify(args))
  }

  /** The call has ended. One that never began cannot. */
  *end(id: string, how: CallEnd): Generator<RunEvent> {
    if (!this.#started.has(id) || this.#ended.has(id)) return
    this.#ended.add(id)
    yield { type: 'tool_call_end', toolCallId: id, ...how }
  }
}
