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
import {
  type CallingRun,
  CUT_OFF,
  cutOff,
  needsApproval,
  onRepeatOf,
  type Tool,
  type ToolContext,
  toolContextOf,
} from '../tool.ts'
import type { Scope } from './scope.ts'
import { waitFor } from './waits.ts'
import type { Answered, RunWork } from './work.ts'

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
  const answered = work.isTakenOver ? undefined : work.answeredAt(path)
  const toolCallId = answered?.request.toolCallId ?? crypto.randomUUID()
  const idempotencyKey = `${work.first ?? run.runId}/${path}`
  const begun = begunAt(work, path)
  const decision = answered && (await decisionOf(answered, tool))
  // The tool runs with the arguments that were approved, even if the body now passes others.
  const args = decision === undefined ? asked : (decision.args as Args)
  yield { type: 'tool_call_start', toolCall: { id: toolCallId, name: tool.name } }
  const argumentsDelta = JSON.stringify(args) ?? 'null'
  yield { type: 'tool_call_delta', toolCallId, argumentsDelta }
  yield { type: 'tool_call_ready', toolCallId, args: JSON.parse(argumentsDelta) }
  // Read the context only now: the tracer has seen the start of the call.
  const attempt = begun.times + 1
  const approval = answered?.answer.answeredBy
  const facts = { toolCallId, idempotencyKey, attempt, signal: run.signal, ...(approval && { approval }) }
  const context = toolContextOf(run, facts, tool.name)
  let result: Result
  try {
    const call = { run, path, toolCallId, begun, decision }
    yield* permit(tool, args, call, context)
    await begin(work, path, { ...begun, times: attempt }, tool)
    result = await tool.execute(args, context)
  } catch (error) {
    const code = isServableError(error) ? { code: error.code } : {}
    yield withThrown({ type: 'tool_call_end', toolCallId, error: messageOf(error), ...code }, error)
    throw error
  }
  yield { type: 'tool_call_end', toolCallId, result: result ?? null }
  return result
}

/** What is stored of a call that has no end. */
interface Begun {
  /** How many times it has begun. */
  readonly times: number
  /** How many of them a person knew of who let it be done again. */
  readonly approved: number
}

function begunAt(work: RunWork, path: string): Begun {
  return { times: 0, approved: 0, ...(Object(work.stateAt(path)) as Partial<Begun>) }
}

/** Stores that a call begins. A call that may be done again does not wait for it. */
async function begin(work: RunWork, path: string, begun: Begun, tool: Tool<never>): Promise<void> {
  if (!work.isJournalled) return
  work.keepAt(path, begun)
  if (onRepeatOf(tool) === 'run') work.checkpointLater()
  else await work.checkpoint()
}

/** A call, what is stored of it, and what was decided about it. */
interface Asked {
  readonly run: ToolCaller
  readonly path: string
  readonly toolCallId: string
  readonly begun: Begun
  readonly decision: Decision | undefined
}

/** Returns if a call may be done. Else the run ends with a request, or the call fails. */
async function* permit<Args, Result>(
  tool: Tool<Args, Result>,
  args: Args,
  call: Asked,
  context: ToolContext,
): AsyncGenerator<RunEvent, void> {
  const { work } = call.run.scope
  const { path, begun, decision } = call
  const ask = (message?: string) => askFor(tool, args, call, message)
  if (begun.times > begun.approved) {
    // It was cut off, and nobody has decided about it since.
    const how = onRepeatOf(tool)
    if (how === 'run') return
    if (how === 'fail') throw cutOff(tool.name)
    work.refuse(path)
    work.keepAt(path, { ...begun, approved: begun.times })
    yield* ask(CUT_OFF)
  }
  if (decision === undefined) {
    if (await needsApproval(tool, args, context)) yield* ask()
  } else if (decision.misfit !== undefined) {
    work.refuse(path)
    yield* ask(decision.misfit)
  } else if (decision.denied !== undefined) {
    throw new ServableError('approval_denied', decision.denied)
  }
}

/** Ends the run with a request for the approval of a call. */
async function* askFor<Args, Result>(
  { name, parameters, editable }: Tool<Args, Result>,
  args: Args,
  { run, path, toolCallId }: Asked,
  message: string | undefined,
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

/** The decision about a call: the arguments to use, or why the call is denied. `misfit` explains why edited arguments do not fit. */
interface Decision {
  readonly args: unknown
  readonly denied?: string
  readonly misfit?: string
}

/** The decision that an answer makes. Edited arguments must fit the tool's schema. */
async function decisionOf(
  { request: { args }, answer }: Answered,
  { parameters }: Pick<Tool, 'parameters'>,
): Promise<Decision> {
  if (!('decision' in answer)) return { args }
  const { decision, reason, editedArgs } = answer
  if (decision === 'deny') {
    return { args, denied: reason ? `The call was denied: ${reason}` : 'The call was denied' }
  }
  if (editedArgs === undefined) return { args }
  const fit = await fitOf(editedArgs, parameters)
  return 'value' in fit ? { args: fit.value } : { args, misfit: fit.misfit }
}
