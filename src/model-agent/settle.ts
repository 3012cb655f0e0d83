/**
 * The calls of a model that its package did not carry out: those of client tools, and those that may need an approval.
 *
 * @module
 */

import type { ToolResultPart } from 'ai'
import type { InputRequest, RunEvent } from '../agents/contract.ts'
import { MAX_REQUESTS } from '../agents/event.ts'
import { placeOf, requestOf } from '../agents/input-request.ts'
import type { RunContext } from '../agents/perform.ts'
import { needsApproval, toolContextOf } from '../agents/tool.ts'
import { messageOf } from '../errors.ts'
import { toJsonSchema } from '../http/json-schema.ts'
import type { ModelCall, OpenCall } from './call-model.ts'
import type { OwnTool } from './tools.ts'
import type { Waiting } from './waiting.ts'

/** What came of calls: what the model is told of those that have ended, and those that wait. */
export interface Settled {
  readonly results: readonly ToolResultPart[]
  readonly waits: readonly Waiting[]
}

/** What calls have in common in a run. */
export type Parts = Pick<ModelCall, 'tools' | 'parts'>

/** Carries out the calls that need nobody. The others wait. */
export async function* settle(
  open: readonly OpenCall[],
  parts: Parts,
  run: RunContext,
): AsyncGenerator<RunEvent, Settled> {
  const results: ToolResultPart[] = []
  const waits: Waiting[] = []
  for (const call of open) {
    const own = parts.tools.ownOf(call.toolName)
    if (own !== undefined && !(await mustAsk(own, call, run))) {
      results.push(yield* carryOut(own, call, parts, run))
    } else if (waits.length < MAX_REQUESTS) {
      waits.push({ call, request: await ask(call, parts, run) })
    } else {
      results.push(yield* fail(call, `At most ${MAX_REQUESTS} of these calls can wait at a time`, parts))
    }
  }
  return { results, waits }
}

async function mustAsk({ tool, parse }: OwnTool, call: OpenCall, run: RunContext): Promise<boolean> {
  if (typeof tool.needsApproval !== 'function') return tool.needsApproval ?? false
  const context = toolContextOf(run, { toolCallId: call.toolCallId, signal: run.signal })
  return needsApproval(tool, await parse(call.input), context)
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

/** Calls a tool and tells how it ended. Whatever it throws is told to the model. `args` are those of the call, or edited. */
export async function* carryOut(
  own: OwnTool,
  call: OpenCall,
  parts: Parts,
  { signal }: RunContext,
  args: unknown = call.input,
): AsyncGenerator<RunEvent, ToolResultPart> {
  const { toolCallId } = call
  const work = async () => own.call(await own.parse(args), { toolCallId, signal })
  const how = await work().then(
    output => ({ output }),
    (thrown: unknown) => ({ thrown }),
  )
  signal.throwIfAborted()
  if ('thrown' in how) return yield* fail(call, how.thrown, parts)
  yield* parts.parts.read({ type: 'tool-result', toolCallId, output: how.output })
  return resultOf(call, how.output)
}

/** Tells that a call gave nothing. */
export function* fail(
  call: OpenCall,
  error: unknown,
  { parts }: Pick<Parts, 'parts'>,
): Generator<RunEvent, ToolResultPart> {
  yield* parts.read({ type: 'tool-error', toolCallId: call.toolCallId, error })
  return failureOf(call, messageOf(error))
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
