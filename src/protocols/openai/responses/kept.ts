/**
 * Stored responses. Each is a stored run with the body of its request. The output is encoded again from the run's log.
 *
 * @module
 */

import {
  type CallerRuns,
  type HistoryMessage,
  type KeptInput,
  type RunRecord,
  ServableError,
} from '../../../core-entry.ts'
import { ignoring } from '../../encoders/index.ts'
import { textOf } from '../../models/answer-encoder.ts'
import type { Fields } from '../../models/body.ts'
import { idOf, runOf } from '../../models/ids.ts'
import { type CommonBody, isJsonFormat } from '../body.ts'
import { ResponseEncoder, type ResponseOptions } from './encoder.ts'
import { itemsIn, listed } from './items.ts'
import { formatIn } from './object.ts'

/** Most runs that continue each other and are read for one history. */
const MAX_CHAIN = 100

/** A stored response. */
export interface KeptResponse {
  readonly record: RunRecord
  readonly asked: KeptInput
  readonly body: CommonBody & Fields
}

/** Finds a stored response. Throws `run_not_found` if it is not stored, or belongs to another owner. */
export async function findKept(id: string, runs: CallerRuns): Promise<KeptResponse> {
  const runId = runOf(id)
  if (runId !== undefined && id === idOf('resp', runId)) {
    const record = await runs.get(runId)
    const asked = await runs.input(runId).catch(ignoring('input_not_kept'))
    const body = asked?.metadata?.openai as KeptResponse['body'] | undefined
    if (asked && body?.input && body.store !== false) return { record, asked, body }
  }
  throw new ServableError('run_not_found', 'There is no such response')
}

/** Makes the encoder that encodes a stored response again. */
export function encoderOf(
  { record, asked, body }: KeptResponse,
  how: Pick<ResponseOptions, 'toolCalls' | 'maxLength' | 'isStream' | 'after'>,
): ResponseEncoder {
  const { id: runId, continuedFrom: from } = record
  return new ResponseEncoder({
    ...how,
    ...{ runId, body, model: body.model, isKept: true, isStored: true },
    createdMs: Date.parse(record.createdAt),
    clientTools: asked.clientTools,
    previous: from ? idOf('resp', from) : body.previous_response_id,
    isBackground: asked.isBackground,
    isQueued: record.status === 'queued',
    isJson: isJsonFormat(formatIn(body)),
    answered: asked.answered.map(({ request }) => request),
  })
}

/** The input items of a response's own request, oldest first. */
export function inputItemsOf({ record, body }: KeptResponse): readonly { id: string }[] {
  return itemsIn(body.input).map((item, at) => listed(item, idOf('in', record.id, `_${at}`)))
}

/** The messages up to a response, and its own. Its instructions are left out, because they apply only to that response. */
export async function historyOf(
  { record, asked, body }: KeptResponse,
  runs: CallerRuns,
): Promise<HistoryMessage[]> {
  const { history = [] } = asked
  const [first] = history
  const hasInstructions = first?.role === 'system' && first.content === body.instructions
  const messages = outputMessagesOf({ record, asked })
  const find = (id: string) => runs.get(id).catch(ignoring('run_not_found'))
  let before: RunRecord | undefined = record
  for (let count = 0; before?.continuedFrom && count < MAX_CHAIN; count++) {
    before = await find(before.continuedFrom)
    if (before !== undefined) messages.unshift(...outputMessagesOf({ record: before }))
  }
  // The runs that continued it are added. Without them, a model would repeat approved calls.
  let after: RunRecord | undefined = record
  for (let count = 0; after?.continuedBy && count < MAX_CHAIN; count++) {
    after = await find(after.continuedBy)
    if (after !== undefined) messages.push(...outputMessagesOf({ record: after }))
  }
  return [
    ...history.slice(hasInstructions ? 1 : 0),
    { role: 'user', content: asked.input },
    ...asRun(messages),
  ]
}

/** Gives calls that waited the arguments with which they ran. The run that continued has the same calls with these arguments. */
function asRun(messages: readonly HistoryMessage[]): HistoryMessage[] {
  const callsOf = (message: HistoryMessage) => (message.role === 'assistant' && message.toolCalls) || []
  const ran = new Map(messages.flatMap(callsOf).map(call => [call.toolCallId, call]))
  return messages.map(message =>
    message.role === 'assistant' && message.toolCalls
      ? { ...message, toolCalls: message.toolCalls.map(call => ran.get(call.toolCallId) ?? call) }
      : message,
  )
}

/** The messages of a run: results of its client's tools, its calls with their results, and its text. */
export function outputMessagesOf({
  record: { result },
  asked,
}: Pick<KeptResponse, 'record'> & Partial<KeptResponse>): HistoryMessage[] {
  const messages: HistoryMessage[] = []
  const give = (toolCallId = '', given: unknown) => messages.push({ role: 'tool', toolCallId, result: given })
  for (const { request, answer } of asked?.answered ?? [])
    if ('result' in answer) give(request.toolCallId, answer.result)
  if (result === undefined) return messages
  const { text, structured } = result
  const toolCalls = result.toolCalls.map(({ error, result: given = error && { error }, ...call }) => {
    if (given !== undefined) give(call.toolCallId, given)
    return call
  })
  const content = text || textOf(structured ?? '')
  messages.push({ role: 'assistant', toolCalls }, { role: 'assistant', content })
  return messages
}
