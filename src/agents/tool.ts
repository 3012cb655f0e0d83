/**
 * A tool, and the one way in which a first-party agent calls it: as events that every transport understands.
 *
 * @module
 */

import { isServableError, messageOf, ServableError } from '../errors.ts'
import { requestOf } from './input-request.ts'
import { fitOf, shownSchema } from './misfit.ts'
import type { RunCaller, RunEvent } from './run-types.ts'
import { withThrown } from './thrown.ts'
import { waitFor } from './waits.ts'
import type { Answered, Scope } from './work.ts'

/** The run that calls a tool, as the tool sees it. */
export interface ToolContext extends RunCaller {
  readonly runId: string
  readonly toolCallId: string
  /** Fires when the run ends early. */
  readonly signal: AbortSignal
}

/** What the context of a tool has of its run's: who asks and for what, and no provider key. */
export function toolContextOf(
  { runId, sessionId, userId, identity, requestId, traceparent }: RunCaller & { readonly runId: string },
  call: Pick<ToolContext, 'toolCallId' | 'signal'>,
): ToolContext {
  return { runId, sessionId, userId, identity, requestId, traceparent, ...call }
}

/** Says of a call whether it must be approved. Written as a method, so that a list may hold tools of any arguments. */
type Decides<Args> = { of(args: Args, caller: RunCaller): boolean | Promise<boolean> }['of']

/** A named function with described parameters that an agent can call. */
export interface Tool<Args = unknown, Result = unknown> {
  readonly name: string
  readonly description?: string | undefined
  /**
   * JSON Schema of the arguments, or a schema that offers one. Arguments from a model are checked: by a Standard Schema
   * completely, by plain JSON Schema in `type` and `required` only.
   */
  readonly parameters?: unknown
  /**
   * Whether someone must approve a call before it is done: always, or as the function says of the arguments. The run finishes
   * with a request of the kind `approval`, and goes on with the answer. Default: false.
   */
  readonly needsApproval?: boolean | Decides<Args> | undefined
  /** Whether an approval may change the arguments; they must fit `parameters`. Default: false. */
  readonly editable?: boolean | undefined
  /** Does the work. It must resolve with JSON. */
  execute(args: Args, context: ToolContext): Result | Promise<Result>
}

/** The type of the arguments: the output of a Standard Schema (valibot, zod, ArkType), else unknown. */
export type ArgsOf<Schema> = Schema extends { readonly '~standard': { readonly types?: infer Types } }
  ? NonNullable<Types> extends { readonly output: infer Output }
    ? Output
    : unknown
  : unknown

/** A tool whose arguments have the type of its schema. */
export interface ToolOf<Schema, Result = unknown> {
  readonly name: string
  readonly description?: string | undefined
  readonly parameters?: Schema
  readonly needsApproval?: boolean | Decides<ArgsOf<Schema>> | undefined
  readonly editable?: boolean | undefined
  execute(args: ArgsOf<Schema>, context: ToolContext): Result | Promise<Result>
}

/** Tools, each with the arguments of its own schema. */
export type ToolsOf<Schemas extends readonly unknown[]> = {
  readonly [Place in keyof Schemas]: ToolOf<Schemas[Place]>
}

/**
 * Returns the tool as it is, and types the arguments of `execute` by its schema. Use it for a tool that is written apart from
 * its agent.
 *
 * @example
 * const forecast = tool({
 *   name: 'forecast',
 *   parameters: v.object({ city: v.string() }),
 *   execute: ({ city }) => `Sunny in ${city}`,
 * })
 */
export function tool<Schema = unknown, Result = unknown>(
  definition: ToolOf<Schema, Result>,
): Tool<ArgsOf<Schema>, Result> {
  return definition
}

/** The run that calls a tool. */
export interface ToolCaller extends Omit<ToolContext, 'toolCallId'> {
  readonly scope: Scope
}

/**
 * Calls `tool` once and tells it as `tool_call_start`, `tool_call_delta` (the arguments as JSON), `tool_call_ready` and
 * `tool_call_end`; returns the tool's result. A run that goes on gets the recorded result and tells nothing. A tool that
 * throws gives a `tool_call_end` with `error`. The throw then goes on to the caller, which may catch it and go on. A call
 * that needs approval ends the run until there is an answer; one that is denied throws `approval_denied`.
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
  const context = toolContextOf(run, { toolCallId, signal: run.signal })
  const decision = answered && (await decisionOf(answered, tool))
  // What was asked is what runs, whatever the body says now.
  const args = decision === undefined ? asked : (decision.args as Args)
  yield { type: 'tool_call_start', toolCall: { id: toolCallId, name: tool.name } }
  yield { type: 'tool_call_delta', toolCallId, argumentsDelta: JSON.stringify(args) ?? 'null' }
  yield { type: 'tool_call_ready', toolCallId, args: args ?? null }
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

/** Whether a call must be approved. */
export async function needsApproval<Args, Result>(
  { needsApproval: needs = false }: Tool<Args, Result>,
  args: Args,
  caller: RunCaller,
): Promise<boolean> {
  return typeof needs === 'function' ? needs(args, caller) : needs
}

/**
 * What was decided of a call: with which arguments it is done, or why it is not. Edited arguments must fit the tool's schema:
 * `misfit` says why they do not.
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
