/**
 * A tool, and the one way in which a first-party agent calls it: as events that every transport understands.
 *
 * @module
 */

import { isServableError, messageOf } from '../errors.ts'
import type { RunEvent } from './contract.ts'

/** What a tool may know of the run that calls it. */
export interface ToolContext {
  readonly runId: string
  readonly toolCallId: string
  /** Fires when the run ends early. */
  readonly signal: AbortSignal
}

/** A named function with described parameters that an agent can call. */
export interface Tool<Args = unknown, Result = unknown> {
  readonly name: string
  readonly description?: string | undefined
  /**
   * JSON Schema of the arguments, or a schema that offers one. Of what a model gives, a Standard Schema checks everything, and
   * plain JSON Schema the `type` and the `required` properties alone.
   */
  readonly parameters?: unknown
  /** Does the work. What it resolves with must be JSON. */
  execute(args: Args, context: ToolContext): Result | Promise<Result>
}

/**
 * Calls `tool` and tells it as `tool_call_start`, `tool_call_delta` (the arguments as JSON) and `tool_call_end`;
 * returns the tool's result. A tool that throws gives a `tool_call_end` with `error`, then the throw goes on to
 * the caller, which may catch it and go on.
 */
export async function* callTool<Args, Result>(
  tool: Tool<Args, Result>,
  args: Args,
  run: Pick<ToolContext, 'runId' | 'signal'>,
): AsyncGenerator<RunEvent, Result> {
  const toolCallId = crypto.randomUUID()
  yield { type: 'tool_call_start', toolCall: { id: toolCallId, name: tool.name } }
  yield { type: 'tool_call_delta', toolCallId, argumentsDelta: JSON.stringify(args) ?? 'null' }
  let result: Result
  try {
    result = await tool.execute(args, { runId: run.runId, toolCallId, signal: run.signal })
  } catch (error) {
    const code = isServableError(error) ? { code: error.code } : {}
    yield { type: 'tool_call_end', toolCallId, error: messageOf(error), ...code }
    throw error
  }
  yield { type: 'tool_call_end', toolCallId, result: result ?? null }
  return result
}
