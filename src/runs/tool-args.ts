import type { RunEvent, ToolCallReadyEvent } from '../agents/contract.ts'
import { parseArgs } from '../agents/fold.ts'
import { ServableError } from '../base/errors.ts'

/** The most calls that are remembered. Ready ones make room for new ones, oldest first. */
const MAX_CALLS = 1000

/** Marks a call whose arguments are complete and were sent as such. */
const READY = Symbol('ready')

type ToolCallEvent = Extract<RunEvent, { type: `tool_call_${string}` }>

/** Whether an event belongs to a tool call. */
export function isOfToolCall(event: RunEvent): event is ToolCallEvent {
  return event.type.startsWith('tool_call_')
}

/**
 * Makes a run send once per tool call that its arguments are complete: with the servable's event, else right before the call's
 * end. `maxLength` limits the characters of the arguments that are collected for that.
 */
export class ToolArgs {
  readonly #maxLength: number
  readonly #calls = new Map<string, string | typeof READY>()
  #length = 0

  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  /**
   * Returns the event to send: the given one; undefined if it was sent before; or the `tool_call_ready` that comes first, after
   * which the event must be passed again. Throws `run_too_large`.
   */
  see(event: ToolCallEvent): ToolCallEvent | undefined {
    if (event.type === 'tool_call_start') {
      this.#open(event.toolCall.id)
      return event
    }
    const { toolCallId: id } = event
    const args = this.#calls.get(id)
    if (args === undefined) return event
    if (event.type === 'tool_call_ready') return args === READY ? undefined : this.#ready(id, args, event)
    if (args === READY) return event
    if (event.type === 'tool_call_end') return this.#ready(id, args, readyOf(event, args))
    this.#grow(event.argumentsDelta.length)
    this.#calls.set(id, args + event.argumentsDelta)
    return event
  }

  #open(id: string): void {
    const before = this.#calls.get(id)
    if (before === undefined && this.#calls.size >= MAX_CALLS && !this.#makeRoom()) return
    if (typeof before === 'string') this.#length -= before.length
    this.#calls.set(id, '')
  }

  #makeRoom(): boolean {
    for (const [id, args] of this.#calls) if (args === READY) return this.#calls.delete(id)
    return false
  }

  #ready(id: string, args: string, event: ToolCallReadyEvent): ToolCallReadyEvent {
    this.#length -= args.length
    this.#calls.set(id, READY)
    return event
  }

  #grow(by: number): void {
    this.#length += by
    if (this.#length <= this.#maxLength) return
    throw new ServableError(
      'run_too_large',
      `The arguments of the run's open tool calls are larger than ${this.#maxLength} characters`,
    )
  }
}

/** The `tool_call_ready` before a call's end, with the end's `agent` and `parentId`. */
function readyOf(
  { toolCallId, agent, parentId }: Extract<RunEvent, { type: 'tool_call_end' }>,
  args: string,
): Extract<RunEvent, { type: 'tool_call_ready' }> {
  return {
    type: 'tool_call_ready',
    toolCallId,
    ...(args !== '' && { args: parseArgs(args) }),
    ...(agent !== undefined && { agent }),
    ...(parentId !== undefined && { parentId }),
  }
}
