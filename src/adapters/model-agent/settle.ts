/**
 * The calls of a model that its package did not carry out: those of client tools, and those that may need an approval.
 *
 * @module
 */

import type { ToolResultPart } from 'ai'
import type { InputRequest, RunEvent, Usage } from '../../agents/contract.ts'
import { MAX_REQUESTS } from '../../agents/event.ts'
import { placeOf, requestOf } from '../../agents/input-request.ts'
import { needsApproval, toolContextOf } from '../../agents/tool.ts'
import type { RunContext } from '../../agents/work/perform.ts'
import { messageOf } from '../../base/errors.ts'
import { toJsonSchema } from '../../http/json-schema.ts'
import type { ModelCall } from './call-model.ts'
import type { OpenCall } from './calls.ts'
import { type Doing, passOver } from './rounds.ts'
import type { ModelTools, OwnTool } from './tools.ts'
import type { Waiting } from './waiting.ts'

/** What came of calls: what the model is told of those that have ended, and those that wait. */
export interface Settled {
  readonly results: readonly ToolResultPart[]
  readonly waits: readonly Waiting[]
  /** Arguments that were edited, by the ids of their calls. */
  readonly edited?: ReadonlyMap<string, unknown>
}

/** What calls have in common in a run. */
export type Parts = Pick<ModelCall, 'tools' | 'parts' | 'rounds' | 'signal'>

/** How a call has ended. */
export type CallEnd = { readonly output: unknown } | { readonly thrown: unknown }

/** What came of a call. */
export interface Done {
  readonly result: ToolResultPart
  /** What a member has used. */
  readonly usage?: Usage | undefined
}

/** Carries out the calls that need nobody: at once, where each is kept as it ends. The others wait. */
export async function* settle(
  open: readonly OpenCall[],
  parts: Parts,
  run: RunContext,
): AsyncGenerator<RunEvent, Settled> {
  const { rounds } = parts
  const results: ToolResultPart[] = []
  const waits: Waiting[] = []
  const begun = new Map<Doing, Promise<readonly [Doing, CallEnd]>>()
  for (const call of open) {
    const doing = rounds.next(call)
    const done = doneBefore(doing, parts)
    if (done !== undefined) {
      results.push(done.result)
      continue
    }
    // What was told of it is not told again.
    for (const event of parts.parts.read({ type: 'tool-call', ...call })) yield event
    const own = await freeTool(doing, parts.tools, run)
    if (own !== undefined) {
      const ending = carryOut(own, doing, parts)
      const ended = ending.then(end => [doing, end] as const)
      if (rounds.isKept) begun.set(doing, ended)
      else results.push(yield* tell(doing, await ending, parts))
    } else if (waits.length < MAX_REQUESTS) {
      waits.push({ call, request: await ask(call, parts, run) })
    } else {
      const thrown = `At most ${MAX_REQUESTS} of these calls can wait at a time`
      results.push(yield* tell(doing, { thrown }, parts))
    }
  }
  while (begun.size > 0) {
    const [doing, end] = await Promise.race(begun.values())
    begun.delete(doing)
    results.push(yield* tell(doing, end, parts))
  }
  return { results, waits }
}

/** The tool of a call, if it may be called without asking anybody. */
async function freeTool(
  { call: { toolCallId, toolName, input }, idempotencyKey }: Doing,
  tools: ModelTools,
  run: RunContext,
): Promise<OwnTool | undefined> {
  const own = tools.ownOf(toolName)
  if (own === undefined) return undefined
  const { tool, parse } = own
  if (typeof tool.needsApproval !== 'function') return tool.needsApproval === true ? undefined : own
  const { signal } = run
  const context = toolContextOf(run, { toolCallId, idempotencyKey, signal })
  return (await needsApproval(tool, await parse(input), context)) ? undefined : own
}

/** What is asked of a person or a client. */
function ask(
  { toolCallId, toolName: name, input: args }: OpenCall,
  { tools, parts }: Parts,
  { runId, scope }: RunContext,
): Promise<InputRequest> {
  const own = tools.ownOf(name)
  const toolName = tools.nameOf(name)
  const kind = own === undefined ? 'client_tool' : 'approval'
  return requestOf({
    id: `${runId}/${scope.next(placeOf({ kind, toolName }), 'tool')}`,
    kind,
    toolCallId: parts.idOf(toolCallId),
    toolName,
    args,
    ...(own?.tool.editable && { editable: true, schema: toJsonSchema(own.tool.parameters) ?? {} }),
  })
}

/** What came of a call before the process died. It has been told. */
export function doneBefore(
  { call, path }: Doing,
  { parts, rounds }: Pick<Parts, 'parts' | 'rounds'>,
): Done | undefined {
  const done = rounds.keptAt(path) as Done | undefined
  if (done !== undefined) passOver(call, parts)
  return done
}

/**
 * Calls a tool. Whatever it throws is told to the model: it never rejects. `args` are those of the call, or edited.
 */
export async function carryOut(
  own: OwnTool,
  { call: { toolCallId, input }, idempotencyKey }: Doing,
  { signal }: Pick<Parts, 'signal'>,
  args: unknown = input,
): Promise<CallEnd> {
  try {
    return { output: await own.call(await own.parse(args), { toolCallId, idempotencyKey, signal }) }
  } catch (thrown) {
    return { thrown }
  }
}

/** Tells how a call has ended, and has it kept. */
export async function* tell(
  { call, path }: Doing,
  end: CallEnd,
  { parts, rounds, signal }: Omit<Parts, 'tools'>,
  usage?: Usage,
): AsyncGenerator<RunEvent, ToolResultPart> {
  signal.throwIfAborted()
  const { toolCallId } = call
  if ('thrown' in end) yield* parts.read({ type: 'tool-error', toolCallId, error: end.thrown })
  else yield* parts.read({ type: 'tool-result', toolCallId, output: end.output })
  const result = 'thrown' in end ? failureOf(call, messageOf(end.thrown)) : resultOf(call, end.output)
  if (rounds.isKept) await rounds.keep(path, { result, usage } satisfies Done)
  return result
}

/** What the model is told of a call that gave something. What is no JSON cannot be told. */
export function resultOf({ toolCallId, toolName }: OpenCall, value: unknown): ToolResultPart {
  const output: ToolResultPart['output'] =
    typeof value === 'string'
      ? { type: 'text', value }
      : { type: 'json', value: JSON.parse(JSON.stringify(value) ?? 'null') }
  return { type: 'tool-result', toolCallId, toolName, output }
}

/** What the model is told of a call that gave nothing. */
export function failureOf({ toolCallId, toolName }: OpenCall, value: string): ToolResultPart {
  return { type: 'tool-result', toolCallId, toolName, output: { type: 'error-text', value } }
}
