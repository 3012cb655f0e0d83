/**
 * The end of a run as AG-UI tells it: `RUN_FINISHED`.
 *
 * @module
 */

import type { FinishEvent, InputRequest, Usage } from '../agents/contract.ts'
import { isObject } from '../validation.ts'
import type { Named } from './subagents.ts'

/** The last event of a run that did not fail. It has no `null`: clients refuse it where a field may be left out. */
export function finished(event: FinishEvent, { client }: Pick<Named, 'client'>): object {
  const { finishReason, requests = [], usage, structured } = event
  return {
    type: 'RUN_FINISHED',
    ...client,
    ...(structured != null && { result: structured }),
    outcome: finishReason === 'cancelled' ? { type: 'cancelled' } : outcomeOf(requests),
    ...(usage && { usage: usageOf(usage) }),
    metadata: { servable: { finishReason, cost: usage?.cost ?? undefined } },
  }
}

/** What a run waits for: interrupts, and calls of tools that the client runs. */
function outcomeOf(requests: readonly InputRequest[]): object {
  const interrupts = requests.filter(({ kind }) => kind !== 'client_tool').map(toInterrupt)
  if (interrupts.length > 0) return { type: 'interrupt', interrupts }
  const pendingToolCallIds = requests.map(({ toolCallId }) => toolCallId)
  return { type: 'success', ...(requests.length > 0 && { pendingToolCallIds }) }
}

function toInterrupt({ id, kind, message, toolCallId, ...request }: InputRequest): object {
  const { toolName, args, schema, editable, digest } = request
  const isApproval = kind === 'approval'
  return {
    id,
    reason: isApproval ? 'tool_call' : 'input_required',
    message,
    toolCallId,
    responseSchema: isApproval ? decisionSchema(editable && schema) : schemaOf(schema),
    metadata: { servable: { kind, toolName, args, editable, digest } },
  }
}

function decisionSchema(args: unknown): object {
  const edited = args === undefined ? {} : { editedArgs: schemaOf(args) ?? {} }
  const properties = { approved: { type: 'boolean' }, reason: { type: 'string' }, ...edited }
  return { type: 'object', properties, required: ['approved'] }
}

function schemaOf(schema: unknown): object | undefined {
  return isObject(schema) ? schema : undefined
}

function usageOf(usage: Usage): object[] {
  const { models } = usage
  return (models && models.length > 0 ? models : [{ ...usage, model: undefined }]).map(
    ({ model, promptTokens, completionTokens, totalTokens }) => ({
      ...namesOf(model),
      inputTokens: tokens(promptTokens),
      outputTokens: tokens(completionTokens),
      totalTokens: tokens(totalTokens),
    }),
  )
}

/** `provider/id` as two names. */
function namesOf(model: string | undefined): object {
  if (typeof model !== 'string') return {}
  const at = model.indexOf('/')
  return at === -1 ? { model } : { provider: model.slice(0, at), model: model.slice(at + 1) }
}

/** Clients take whole numbers from 0 on. */
function tokens(count: number): number | undefined {
  return Number.isSafeInteger(count) && count >= 0 ? count : undefined
}
