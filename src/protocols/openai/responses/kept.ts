/**
 * Responses that are kept: each is a stored run with what it was asked with, and its log tells its output again.
 *
 * @module
 */

import type { HistoryMessage } from '../../../agents/contract.ts'
import { ServableError } from '../../../base/errors.ts'
import type { Core } from '../../../core/built-in.ts'
import { ignoring } from '../../../http/runs/ignoring.ts'
import type { Viewer } from '../../../runs/stored/host.ts'
import type { Asked } from '../../../runs/stored/journal.ts'
import type { RunRecord } from '../../../runs/stored/record.ts'
import { textOf } from '../answer-encoder.ts'
import { type CommonBody, type Fields, isJsonFormat } from '../body.ts'
import { idOf, runOf } from '../ids.ts'
import { type About, ResponseEncoder } from './encoder.ts'
import { itemsIn, listed } from './items.ts'
import { formatIn } from './object.ts'

/** Runs that go on from each other, each with answers. */
const MAX_CHAIN = 100

/** A kept response. */
export interface KeptResponse {
  readonly record: RunRecord
  readonly asked: Asked
  readonly body: CommonBody & Fields
}

/** Finds one. Throws `run_not_found` for one that is not kept, and for another owner's. */
export async function findKept(
  id: string,
  { host }: Pick<Core, 'host'>,
  viewer: Viewer,
): Promise<KeptResponse> {
  const runId = runOf(id)
  if (runId !== undefined && id === idOf('resp', runId)) {
    const record = await host.get(runId, viewer)
    const asked = await host.asked(runId, viewer).catch(ignoring('input_not_kept'))
    const body = asked?.options.metadata?.openai as KeptResponse['body'] | undefined
    if (asked && body?.input && body.store !== false) return { record, asked, body }
  }
  throw new ServableError('run_not_found', 'There is no such response')
}

/** Tells one again. */
export function encoderOf(
  { record, asked, body }: KeptResponse,
  how: Pick<About, 'toolCalls' | 'maxLength' | 'isStream' | 'after'>,
): ResponseEncoder {
  const { id: runId, continuedFrom: from } = record
  return new ResponseEncoder({
    ...how,
    ...{ runId, body, model: body.model, isKept: true, isStored: true },
    createdMs: Date.parse(record.createdAt),
    clientTools: asked.options.clientTools,
    previous: from ? idOf('resp', from) : body.previous_response_id,
    isBackground: asked.isBackground === true,
    isQueued: record.status === 'queued',
    isJson: isJsonFormat(formatIn(body)),
    answered: asked.continues?.work.answered.map(({ request }) => request) ?? [],
  })
}

/** What a response was asked with, without what came before, oldest first. */
export function inputItemsOf({ record, body }: KeptResponse): readonly { id: string }[] {
  return itemsIn(body.input).map((item, at) => listed(item, idOf('in', record.id, `_${at}`)))
}

/** What was said up to a response, and in it. Its instructions are its own. */
export async function historyOf(
  { record, asked, body }: KeptResponse,
  { host }: Pick<Core, 'host'>,
  viewer: Viewer,
): Promise<HistoryMessage[]> {
  const { history = [] } = asked.options
  const [first] = history
  const hasInstructions = first?.role === 'system' && first.content === body.instructions
  const said = saidBy({ record, asked })
  const find = (id: string) => host.get(id, viewer).catch(ignoring('run_not_found'))
  let before: RunRecord | undefined = record
  for (let count = 0; before?.continuedFrom && count < MAX_CHAIN; count++) {
    before = await find(before.continuedFrom)
    if (before !== undefined) said.unshift(...saidBy({ record: before }))
  }
  // What was answered elsewhere went on: else a model would do again what was approved.
  let after: RunRecord | undefined = record
  for (let count = 0; after?.continuedBy && count < MAX_CHAIN; count++) {
    after = await find(after.continuedBy)
    if (after !== undefined) said.push(...saidBy({ record: after }))
  }
  return [...history.slice(hasInstructions ? 1 : 0), { role: 'user', content: asked.input }, ...asRun(said)]
}

/** A call that waited is told again by the run that goes on, with the arguments with which it ran. */
function asRun(said: readonly HistoryMessage[]): HistoryMessage[] {
  const callsOf = (message: HistoryMessage) => (message.role === 'assistant' && message.toolCalls) || []
  const ran = new Map(said.flatMap(callsOf).map(call => [call.toolCallId, call]))
  return said.map(message =>
    message.role === 'assistant' && message.toolCalls
      ? { ...message, toolCalls: message.toolCalls.map(call => ran.get(call.toolCallId) ?? call) }
      : message,
  )
}

/** What a run was given by tools of its client, and what it has said: its calls, their results, and its text. */
export function saidBy({
  record: { result },
  asked,
}: Pick<KeptResponse, 'record'> & Partial<KeptResponse>): HistoryMessage[] {
  const said: HistoryMessage[] = []
  const give = (toolCallId = '', given: unknown) => said.push({ role: 'tool', toolCallId, result: given })
  for (const { request, answer } of asked?.continues?.work.answered ?? [])
    if ('result' in answer) give(request.toolCallId, answer.result)
  if (result === undefined) return said
  const { text, structured } = result
  const toolCalls = result.toolCalls.map(({ error, result: given = error && { error }, ...call }) => {
    if (given !== undefined) give(call.toolCallId, given)
    return call
  })
  const content = text || textOf(structured ?? '')
  said.push({ role: 'assistant', toolCalls }, { role: 'assistant', content })
  return said
}
