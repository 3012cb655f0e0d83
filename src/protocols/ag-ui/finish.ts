/**
 * The end of a run in AG-UI: `RUN_FINISHED`.
 *
 * @module
 */

import type { FinishEvent, InputRequest, ModelUsage, Usage } from '../../core-entry.ts'
import { isObject } from '../encoders/index.ts'
import type { RunNames } from './subagents.ts'

/** What the end depends on: the client's ids and version. */
interface ClientFacts extends Pick<RunNames, 'client'> {
  readonly isVersion1?: boolean
}

/** The last event of a run that did not fail. It has no `null`, because clients refuse it in optional fields. */
export function finished(event: FinishEvent, { client, isVersion1 }: ClientFacts): object {
  const { finishReason, usage, structured } = event
  return {
    type: 'RUN_FINISHED',
    ...client,
    result: structured ?? undefined,
    outcome: outcomeOf(event, isVersion1),
    usage: usage && usageOf(usage),
    metadata: { servable: { finishReason, cost: usage?.cost ?? undefined } },
  }
}

/** How a run ended. It may wait for interrupts, and for calls of tools that the client runs. */
function outcomeOf({ finishReason, requests = [] }: FinishEvent, isVersion1 = false): object | undefined {
  const interrupts = requests.filter(({ kind }) => kind !== 'client_tool').map(toInterrupt)
  if (interrupts.length > 0) return { type: 'interrupt', interrupts }
  // Clients from 0.0.54 to 0.0.59 refuse all other outcomes, and those of 0.x need none.
  if (!isVersion1) return undefined
  if (finishReason === 'cancelled') return { type: 'cancelled' }
  const calls = requests.map(({ toolCallId }) => toolCallId)
  return { type: 'success', pendingToolCallIds: calls.length > 0 ? calls : undefined }
}

function toInterrupt({ id, message, toolCallId, schema, ...servable }: InputRequest): object {
  const isApproval = servable.kind === 'approval'
  return {
    id,
    reason: isApproval ? 'tool_call' : 'input_required',
    message,
    toolCallId,
    responseSchema: isApproval ? decisionSchema(servable.editable && schema) : schemaOf(schema),
    metadata: { servable },
  }
}

function decisionSchema(args: unknown): object {
  const editedArgs = args === undefined ? args : (schemaOf(args) ?? {})
  const properties = { approved: { type: 'boolean' }, reason: { type: 'string' }, editedArgs }
  return { type: 'object', properties, required: ['approved'] }
}

function schemaOf(schema: unknown): object | undefined {
  return isObject(schema) ? schema : undefined
}

/** The tokens of each model, or those of the whole run. */
function usageOf({ models = [], ...usage }: Usage): object[] {
  const each: readonly ModelUsage[] = models.length > 0 ? models : [usage]
  return each.map(({ model, promptTokens, completionTokens, totalTokens }) => ({
    model,
    inputTokens: tokens(promptTokens),
    outputTokens: tokens(completionTokens),
    totalTokens: tokens(totalTokens),
  }))
}

/** Clients accept only whole numbers of 0 or more. */
function tokens(count: number): number {
  return Math.max(0, Math.trunc(count)) || 0
}
