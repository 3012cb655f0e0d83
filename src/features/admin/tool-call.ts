/**
 * A call of one tool by an administrator, without an agent and without a run.
 *
 * @module
 */

import { fitOf } from '../../agents/misfit.ts'
import { type Tool, type ToolContext, type Toolkit, toolContextOf } from '../../agents/tool.ts'
import type { ToolServerSource } from '../../agents/tool-servers.ts'
import { isServableError, messageOf, ServableError } from '../../base/errors.ts'
import { isObject } from '../../base/validation.ts'
import { unless } from '../../base/wake.ts'
import type { RequestState } from '../../http/context.ts'

/** The tools that can be called: by name in the library, then in a toolkit, then as `server.tool`. */
export interface CallableTools {
  readonly toolkits: readonly Toolkit[]
  readonly toolLibrary: Readonly<Record<string, Tool>>
  readonly manager: ToolServerSource | undefined
}

/** The result of a call. */
export interface ToolCallResult {
  readonly result: unknown
  readonly durationMs: number
}

/** Milliseconds that a call may take. */
const CALL_MS = 60_000

/** Most characters of a result as JSON. */
const MAX_RESULT = 1024 * 1024

/** Most calls at a time. */
const MAX_CALLS = 20

/** Creates the function that calls tools. The calls of all requests together are limited. */
export function toolCaller(
  tools: CallableTools,
): (name: string, body: unknown, request: Request, state: RequestState) => Promise<ToolCallResult> {
  let calls = 0
  return async (name, body, request, state) => {
    const tool = toolNamed(tools, name)
    const args = await argsOf(body, tool)
    if (calls >= MAX_CALLS) throw new ServableError('rate_limited', `${MAX_CALLS} tools are called already`)
    calls++
    try {
      return await call(tool, args, AbortSignal.any([request.signal, AbortSignal.timeout(CALL_MS)]), state)
    } finally {
      calls--
    }
  }
}

function toolNamed({ toolkits, toolLibrary, manager }: CallableTools, name: string): Tool {
  if (Object.hasOwn(toolLibrary, name)) return toolLibrary[name]!
  const own = toolkits.flatMap(({ tools }) => tools).find(tool => tool.name === name)
  if (own !== undefined) return own
  if (manager === undefined || !name.includes('.'))
    throw new ServableError('tool_not_found', `There is no tool named \`${name.slice(0, 100)}\``)
  // Its server checks its arguments.
  return {
    name,
    execute: (args, { signal, traceparent }) => manager.servers.call(name, args, { signal, traceparent }),
  }
}

async function argsOf(body: unknown, { parameters }: Tool): Promise<unknown> {
  if (!isObject(body)) throw new ServableError('invalid_body', 'The body must be an object with `args`')
  const fit = await fitOf(body.args, parameters)
  if ('misfit' in fit) throw new ServableError('invalid_body', `\`args\`: ${fit.misfit}`)
  return fit.value
}

async function call(
  tool: Tool,
  args: unknown,
  signal: AbortSignal,
  state: RequestState,
): Promise<ToolCallResult> {
  const beganAt = performance.now()
  const work = async () => {
    const result: unknown = await tool.execute(args, contextOf(state, signal))
    return { result: result ?? null, length: JSON.stringify(result ?? null).length }
  }
  const { result, length } = await unless(signal, work).catch(failed)
  if (length > MAX_RESULT)
    throw new ServableError('tool_failed', `The result has ${length} characters; ${MAX_RESULT} are the most`)
  return { result, durationMs: Math.round(performance.now() - beganAt) }
}

/** There is no run, so the call has ids of its own. */
function contextOf({ identity, requestId, traceparent }: RequestState, signal: AbortSignal): ToolContext {
  const id = crypto.randomUUID()
  const caller = { runId: id, identity: identity?.id, userId: identity?.id, requestId, traceparent }
  return toolContextOf(caller, { toolCallId: id, idempotencyKey: id, attempt: 1, signal })
}

function failed(error: unknown): never {
  if (isServableError(error)) throw error
  const isLate = error instanceof DOMException && error.name === 'TimeoutError'
  const text = isLate ? `The tool took longer than ${CALL_MS / 1000} s` : messageOf(error)
  throw new ServableError('tool_failed', text, { cause: error })
}
