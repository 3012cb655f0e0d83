/**
 * Calls a tool for a first-party agent, with the events that every transport understands.
 *
 * @module
 */

import { isServableError, messageOf, ServableError } from '../../base/errors.ts'
import { requestOf } from '../input-request.ts'
import { fitOf, shownSchema } from '../misfit.ts'
import type { RunEvent } from '../run-types.ts'
import { withThrown } from '../thrown.ts'
import { type CallingRun, needsApproval, type Tool, toolContextOf } from '../tool.ts'
import type { Scope } from './scope.ts'
import { waitFor } from './waits.ts'
import type { Answered } from './work.ts'

/** The run that calls a tool. */
export interface ToolCaller extends CallingRun {
  readonly signal: AbortSignal
  readonly scope: Scope
}

/**
 * Calls `tool` once and yields `tool_call_start`, `tool_call_delta` (the arguments as JSON), `tool_call_ready` and
 * `tool_call_end`; returns the tool's result. A run that goes on gets the recorded result and yields no events. A tool that
 * throws yields a `tool_call_end` with `error`. The error then goes on to the caller, which may catch it. A call that needs
 * approval ends the run until there is an answer. A denied call throws `approval_denied`.
 */
export function callTool<Args, Result>(
  tool: Tool<Args, Result>,
  args: Args,
  run: ToolCaller,
): AsyncGenerator<RunEvent, Result> {
  return run.scope.once('tool', tool.name, path => doCall(tool, args, run, path))
}

async function* doCall<Args, Result>(
  tool: Tool<Args, Result>,
  asked: Args,
  run: ToolCaller,
  path: string,
): AsyncGenerator<RunEvent, Result> {
  const { work } = run.scope
  const answered = work.answeredAt(path)
  const toolCallId = answered?.request.toolCallId ?? crypto.randomUUID()
  const idempotencyKey = `${work.first ?? run.runId}/${path}`
  const decision = answered && (await decisionOf(answered, tool))
  // The tool runs with the arguments that were approved, even if the body now passes others.
  const args = decision === undefined ? asked : (decision.args as Args)
  yield { type: 'tool_call_start', toolCall: { id: toolCallId, name: tool.name } }
  const argumentsDelta = JSON.stringify(args) ?? 'null'
  yield { type: 'tool_call_delta', toolCallId, argumentsDelta }
  yield { type: 'tool_call_ready', toolCallId, args: JSON.parse(argumentsDelta) }
  // Read the context only now: the tracer has seen the start of the call.
  const context = toolContextOf(run, { toolCallId, idempotencyKey, signal: run.signal }, tool.name)
  let result: Result
  try {
    const { misfit } = decision ?? {}
    if (misfit !== undefined) work.refuse(path)
    if (misfit !== undefined || (decision === undefined && (await needsApproval(tool, args, context)))) {
      yield* askFor(tool, args, { run, path, toolCallId, message: misfit })
    }
    if (decision?.denied !== undefined) throw new ServableError('approval_denied', decision.denied)
    result = await tool.execute(args, context)
  } catch (error) {
    const code = isServableError(error) ? { code: error.code } : {}
    yield withThrown({ type: 'tool_call_end', toolCallId, error: messageOf(error), ...code }, error)
    throw error
  }
  yield { type: 'tool_call_end', toolCallId, result: result ?? null }
  return result
}

/** Ends the run with a request for the approval of a call. */
async function* askFor<Args, Result>(
  { name, parameters, editable }: Tool<Args, Result>,
  args: Args,
  {
    run,
    path,
    toolCallId,
    message,
  }: {
    readonly run: ToolCaller
    readonly path: string
    readonly toolCallId: string
    readonly message: string | undefined
  },
): AsyncGenerator<RunEvent, never> {
  const schema = editable === true ? shownSchema(parameters) : undefined
  const request = await requestOf({
    id: `${run.runId}/${path}`,
    kind: 'approval',
    toolCallId,
    toolName: name,
    args: args ?? null,
    ...(message !== undefined && { message }),
    ...(editable === true && { editable }),
    ...(schema !== undefined && { schema }),
  })
  return yield* waitFor(run.scope, [request])
}

/**
 * The decision about a call: the arguments to use, or why the call is denied. Edited arguments must fit the tool's schema;
 * `misfit` explains why they do not.
 */
async function decisionOf(
  { request: { args }, answer }: Answered,
  { parameters }: Pick<Tool, 'parameters'>,
): Promise<{ readonly args: unknown; readonly denied?: string; readonly misfit?: string }> {
  if (!('decision' in answer)) return { args }
  const { decision, reason, editedArgs } = answer
  if (decision === 'deny') {
    return { args, denied: reason ? `The call was denied: ${reason}` : 'The call was denied' }
  }
  if (editedArgs === undefined) return { args }
  const fit = await fitOf(editedArgs, parameters)
  return 'value' in fit ? { args: fit.value } : { args, misfit: fit.misfit }
}
