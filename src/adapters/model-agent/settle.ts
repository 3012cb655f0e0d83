/**
 * The calls of a model that its package does not carry out: those of client tools, and those that may need an approval.
 *
 * @module
 */

import type { ToolResultPart } from 'ai'
import type { RunEvent, Usage } from '../../agents/contract.ts'
import { MAX_REQUESTS } from '../../agents/event.ts'
import { requestNameOf, requestOf } from '../../agents/input-request.ts'
import { CUT_OFF, cutOff, needsApproval, onRepeatOf, toolContextOf } from '../../agents/tool.ts'
import type { RunContext } from '../../agents/work/perform.ts'
import { messageOf } from '../../base/errors.ts'
import { toJsonSchema } from '../../http/json-schema.ts'
import type { ModelCall } from './call-model.ts'
import type { OpenCall } from './calls.ts'
import { factsOf, type PlannedCall, passOver } from './rounds.ts'
import { type ModelTools, type OwnTool, toolGone } from './tools.ts'
import type { WaitingCall } from './waiting.ts'

/** The result of calls: the results for the model of those that have ended, and those that wait. */
export interface Settled {
  readonly results: readonly ToolResultPart[]
  readonly waits: readonly WaitingCall[]
  /** Edited arguments by the ids of their calls. */
  readonly edited?: ReadonlyMap<string, unknown>
}

/** What the calls of a run share. */
export type CallParts = Pick<ModelCall, 'tools' | 'parts' | 'rounds' | 'signal'>

/** The end of a call. */
export type ToolEnd = { readonly output: unknown } | { readonly thrown: unknown }

/** The result of a call. */
export interface Done {
  readonly result: ToolResultPart
  /** The member's usage. */
  readonly usage?: Usage | undefined
  /** The id of the call in the events, if its model has used the same one twice. */
  readonly eventId?: string
}

/** Carries out the calls that need no answer, in parallel if each result is stored as it ends. The others wait. */
export async function* settle(
  open: readonly OpenCall[],
  parts: CallParts,
  run: RunContext,
): AsyncGenerator<RunEvent, Settled> {
  const { rounds } = parts
  const results: ToolResultPart[] = []
  const waits: WaitingCall[] = []
  const free = new Map<PlannedCall, OwnTool>()
  for (const call of open) {
    const doing = rounds.next(call)
    const done = doneBefore(doing, parts)
    if (done !== undefined) {
      results.push(done.result)
      continue
    }
    // Read the call without sending its events again.
    for (const event of parts.parts.read({ type: 'tool-call', ...call })) yield event
    const next = await nextOf(doing, parts.tools, run)
    if (next.how === 'call') {
      if (rounds.isKept) free.set(doing, next.own)
      else results.push(yield* reportEnd(doing, await carryOut(next.own, doing, parts), parts))
    } else if (next.how === 'fail') {
      results.push(yield* reportEnd(doing, next, parts))
    } else if (waits.length < MAX_REQUESTS) {
      waits.push({ call, ...(await ask(doing, parts, run)) })
    } else {
      const thrown = `At most ${MAX_REQUESTS} of these calls can wait at a time`
      results.push(yield* reportEnd(doing, { thrown }, parts))
    }
  }
  return { results: [...results, ...(yield* callAll(free, parts))], waits }
}

/** Calls tools in parallel. Their begin is stored before, each result as it ends. */
async function* callAll(
  free: ReadonlyMap<PlannedCall, OwnTool>,
  parts: CallParts,
): AsyncGenerator<RunEvent, ToolResultPart[]> {
  if (parts.rounds.isKept) await parts.rounds.begun([...free.keys()])
  const begun = new Map<PlannedCall, Promise<readonly [PlannedCall, ToolEnd]>>()
  for (const [doing, own] of free) {
    const ended = carryOut(own, doing, parts).then(end => [doing, end] as const)
    begun.set(doing, ended)
  }
  const results: ToolResultPart[] = []
  while (begun.size > 0) {
    const [doing, end] = await Promise.race(begun.values())
    begun.delete(doing)
    results.push(yield* reportEnd(doing, end, parts))
  }
  return results
}

/** What comes next for a call: its tool, a request, or its failure. */
type Next =
  | { readonly how: 'call'; readonly own: OwnTool }
  | { readonly how: 'ask' }
  | { readonly how: 'fail'; readonly thrown: unknown }

async function nextOf(doing: PlannedCall, tools: ModelTools, run: RunContext): Promise<Next> {
  const { call, attempt } = doing
  const own = tools.ownOf(call.toolName)
  // A call that began here was of a tool of the agent, and of no client.
  if (own === undefined && attempt > 1) throw toolGone(tools.nameOf(call.toolName))
  if (own === undefined) return { how: 'ask' }
  const { tool, parse } = own
  if (attempt > 1) {
    // It needed no approval when it began.
    const how = onRepeatOf(tool)
    if (how === 'fail') return { how, thrown: cutOff(tool.name) }
    return how === 'ask' ? { how } : { how: 'call', own }
  }
  if (typeof tool.needsApproval !== 'function')
    return tool.needsApproval === true ? { how: 'ask' } : { how: 'call', own }
  const context = toolContextOf(run, factsOf(doing, run.signal))
  return (await needsApproval(tool, await parse(call.input), context)) ? { how: 'ask' } : { how: 'call', own }
}

/** The request to a person or a client. */
async function ask(
  { call, idempotencyKey, attempt }: PlannedCall,
  { tools, parts }: CallParts,
  { runId, scope }: RunContext,
): Promise<Pick<WaitingCall, 'request' | 'again'>> {
  const { toolCallId, toolName: name, input: args } = call
  const own = tools.ownOf(name)
  const toolName = tools.nameOf(name)
  const kind = own === undefined ? 'client_tool' : 'approval'
  const isAgain = attempt > 1
  const request = await requestOf({
    id: `${runId}/${scope.next(requestNameOf({ kind, toolName }), 'tool')}`,
    kind,
    toolCallId: parts.idOf(toolCallId),
    toolName,
    args,
    ...(isAgain && { message: CUT_OFF }),
    ...(own?.tool.editable && { editable: true, schema: toJsonSchema(own.tool.parameters) ?? {} }),
  })
  return { request, ...(isAgain && { again: { idempotencyKey, attempt } }) }
}

/** The result of a call before the process died. Its events were sent. */
export function doneBefore(
  { call, path }: PlannedCall,
  { parts, rounds }: Pick<CallParts, 'parts' | 'rounds'>,
): Done | undefined {
  const done = Object(rounds.keptAt(path)) as Partial<Done>
  if (done.result === undefined) return undefined
  passOver(call, parts)
  return done as Done
}

/**
 * Calls a tool. It never rejects, since the model gets the error. `args` are those of the call, or edited ones.
 */
export async function carryOut(
  own: OwnTool,
  doing: PlannedCall,
  { signal }: Pick<CallParts, 'signal'>,
  args: unknown = doing.call.input,
): Promise<ToolEnd> {
  try {
    return { output: await own.call(await own.parse(args), factsOf(doing, signal)) }
  } catch (thrown) {
    return { thrown }
  }
}

/** Sends the end of a call and stores its result. */
export async function* reportEnd(
  { call, path }: PlannedCall,
  end: ToolEnd,
  { parts, rounds, signal }: Omit<CallParts, 'tools'>,
  usage?: Usage,
): AsyncGenerator<RunEvent, ToolResultPart> {
  signal.throwIfAborted()
  const { toolCallId } = call
  if ('thrown' in end) yield* parts.read({ type: 'tool-error', toolCallId, error: end.thrown })
  else yield* parts.read({ type: 'tool-result', toolCallId, output: end.output })
  const result = 'thrown' in end ? failureOf(call, messageOf(end.thrown)) : resultOf(call, end.output)
  const eventId = parts.idOf(toolCallId)
  const done: Done = { result, usage, ...(eventId !== toolCallId && { eventId }) }
  if (rounds.isKept) await rounds.keep(path, done)
  return result
}

/** The result of a successful call for the model. A value that is not JSON throws. */
export function resultOf({ toolCallId, toolName }: OpenCall, value: unknown): ToolResultPart {
  const output: ToolResultPart['output'] =
    typeof value === 'string'
      ? { type: 'text', value }
      : { type: 'json', value: JSON.parse(JSON.stringify(value) ?? 'null') }
  return { type: 'tool-result', toolCallId, toolName, output }
}

/** The result of a failed call for the model. */
export function failureOf({ toolCallId, toolName }: OpenCall, value: string): ToolResultPart {
  return { type: 'tool-result', toolCallId, toolName, output: { type: 'error-text', value } }
}
