/**
 * The end of a run as AG-UI tells it: `RUN_FINISHED`.
 *
 * @module
 */

import type { FinishEvent, InputRequest, Usage } from '../agents/contract.ts'
import { isObject } from '../validation.ts'
import type { Named } from './subagents.ts'

/** To whom the end is told. */
interface Listener extends Pick<Named, 'client'> {
  readonly isVersion1?: boolean
}

/** The last event of a run that did not fail. It has no `null`: clients refuse it where a field may be left out. */
export function finished(event: FinishEvent, { client, isVersion1 = false }: Listener): object {
  const { finishReason, usage, structured } = event
  return {
    type: 'RUN_FINISHED',
    ...client,
    ...(structured != null && { result: structured }),
    outcome: outcomeOf(event, isVersion1),
    ...(usage && { usage: usageOf(usage) }),
    metadata: { servable: { finishReason, cost: usage?.cost ?? undefined } },
  }
}

/** How a run ended. It may wait: for interrupts, and for calls of tools that the client runs. */
function outcomeOf({ finishReason, requests = [] }: FinishEvent, isVersion1: boolean): object | undefined {
  const interrupts = requests.filter(({ kind }) => kind !== 'client_tool').map(toInterrupt)
  if (interrupts.length > 0) return { type: 'interrupt', interrupts }
  // Clients from 0.0.54 to 0.0.59 refuse all other outcomes, and those of 0.x need none.
  if (!isVersion1) return undefined
  if (finishReason === 'cancelled') return { type: 'cancelled' }
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
