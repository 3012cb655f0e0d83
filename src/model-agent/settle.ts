/**
 * The calls of a model that its package did not carry out: those of client tools, and those that may need an approval.
 *
 * @module
 */

import type { ToolResultPart } from 'ai'
import type { RunEvent } from '../agents/contract.ts'
import { requestOf } from '../agents/input-request.ts'
import type { RunContext } from '../agents/perform.ts'
import { toolContextOf } from '../agents/tool.ts'
import { messageOf } from '../errors.ts'
import { toJsonSchema } from '../http/json-schema.ts'
import type { ModelCall, OpenCall } from './call-model.ts'
import type { OwnTool } from './tools.ts'
import type { Waiting } from './waiting.ts'

/** What calls have in common in a run. */
export type Parts = Pick<ModelCall, 'tools' | 'parts'>

/** Most requests of one run; a call beyond them fails. */
const MAX_REQUESTS = 100

/** Carries out the calls that need nobody, and puts the others to those that wait. */
export async function* settle(
  open: readonly OpenCall[],
  waits: Waiting[],
  parts: Parts,
  run: RunContext,
): AsyncGenerator<RunEvent, ToolResultPart[]> {
  const results: ToolResultPart[] = []
  const counts = new Map<string, number>()
  for (const call of open) {
    const own = parts.tools.ownOf(call.toolName)
    if (own !== undefined && !(await needsApproval(own, call, run))) {
      results.push(yield* carryOut(own, call, parts, run))
    } else if (waits.length < MAX_REQUESTS) {
      waits.push({ call, request: await ask(call, counts, parts, run) })
    } else {
      results.push(yield* fail(call, `At most ${MAX_REQUESTS} of these calls can wait at a time`, parts))
    }
  }
  return results
}

async function needsApproval({ tool, parse }: OwnTool, call: OpenCall, run: RunContext): Promise<boolean> {
  const { needsApproval: asks = false } = tool
  if (typeof asks !== 'function') return asks
  const context = toolContextOf(run, { toolCallId: call.toolCallId, signal: run.signal })
  return asks(await parse(call.input), context)
}

/** What is asked of a person or a client. `counts` has the places that are taken. */
function ask(
  { toolCallId, toolName: name, input: args }: OpenCall,
  counts: Map<string, number>,
  { tools, parts }: Parts,
  { runId }: RunContext,
): Promise<Waiting['request']> {
  const own = tools.ownOf(name)
  const toolName = tools.nameOf(name)
  const place = `${own === undefined ? 'client_tool' : 'approve'}:${toolName}`
  const count = (counts.get(place) ?? 0) + 1
  counts.set(place, count)
  return requestOf({
    id: `${runId}/${place}${count === 1 ? '' : `#${count}`}`,
    kind: own === undefined ? 'client_tool' : 'approval',
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

function* fail(call: OpenCall, error: unknown, { parts }: Parts): Generator<RunEvent, ToolResultPart> {
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
