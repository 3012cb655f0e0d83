import type { RunEvent, ToolCallReadyEvent } from '../agents/contract.ts'
import { parseArgs } from '../agents/fold.ts'
import { ServableError } from '../base/errors.ts'

/** Calls that are remembered; the oldest of those that are ready make room. */
const MAX_CALLS = 1000

/** Arguments that are complete, and told as such. */
const READY = Symbol('ready')

type ToolCallEvent = Extract<RunEvent, { type: `tool_call_${string}` }>

/** Whether an event is of a tool call. */
export function isOfToolCall(event: RunEvent): event is ToolCallEvent {
  return event.type.startsWith('tool_call_')
}

/**
 * Sees to it that a run tells once of each tool call that its arguments are complete: by the servable's word, else right
 * before the call's end. `maxLength` bounds the characters of the arguments that are gathered for that.
 */
export class ToolArgs {
  readonly #maxLength: number
  readonly #calls = new Map<string, string | typeof READY>()
  #length = 0

  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  /**
   * What is to be told for an event: itself, undefined where it was told before, or the `tool_call_ready` that comes first:
   * then the event is to be shown once more. Throws `run_too_large`.
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

/** Who says it, and inside of what, is as with the call's end. */
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
