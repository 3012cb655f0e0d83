/**
 * `POST /responses`.
 *
 * @module
 */

import type { ClientTool, HistoryMessage } from '../../agents/contract.ts'
import type { Core } from '../../core/built-in.ts'
import { askedBy, idText } from '../../encoders/conversation.ts'
import { after, encoded } from '../../encoders/encoder.ts'
import { answeredOnly } from '../../encoders/history.ts'
import { isServableError, ServableError } from '../../errors.ts'
import { RequestAsker } from '../../http/asker.ts'
import type { Endpoint, RequestState } from '../../http/context.ts'
import { idempotencyKeyOf } from '../../http/idempotency.ts'
import type { AskedRun, StartedRun } from '../../http/start-run.ts'
import { parseConversation, RunInputSchema } from '../../runs/input.ts'
import type { RunRecord } from '../../runs/record.ts'
import type { Target } from '../../runs/target.ts'
import { misfit, validate } from '../../validation.ts'
import { readJson, requireJson } from '../../web/body.ts'
import { jsonReply, sseReply } from '../../web/reply.ts'
import { counted } from '../../web/sse.ts'
import { type Answers, answersTo, checkTarget, textAnswerTo } from '../answers.ts'
import { begin } from '../begin.ts'
import { asksJson, clientToolsOf, type Fields } from '../body.ts'
import { checkEnd, readThrough } from '../ending.ts'
import { errorResponse } from '../errors.ts'
import { idOf, runOf } from '../ids.ts'
import type { Models } from '../models.ts'
import { ResponseEncoder } from './encoder.ts'
import { type Reference, type ResponsesBody, ResponsesBodySchema, type Said, saidIn } from './items.ts'
import { type KeptResponse, type KeptResponses, saidBy, type Telling } from './kept.ts'
import { conversationOf } from './object.ts'

/** Earlier responses that one input may name items of. */
const MAX_REFERENCES = 100

/** How responses are made. */
export interface Making extends Telling {
  /** Whether a response is kept where a request does not say. */
  readonly store: boolean
}

/** What a request asks for. */
interface Wanted {
  readonly target: Target
  readonly said: Said
  readonly told: Fields
  readonly isJson: boolean
  readonly clientTools: readonly ClientTool[] | undefined
  /** The id of the response before, as the client names it. */
  readonly previousId: string | null | undefined
  readonly previous: KeptResponse | undefined
}

/** Makes responses. */
export function createResponse(core: Core, models: Models, kept: KeptResponses, making: Making): Endpoint {
  const { maxBodyBytes, openStream } = core
  return async (request, state) => {
    requireJson(request)
    const json = await readJson(request, maxBodyBytes)
    const body = validate(ResponsesBodySchema, json, 'invalid_body', 'body')
    const how = { keepsInput: isKeptAs(body, making, core, state), isBackground: body.background === true }
    const wanted = await wantedBy(body, models, kept, state)
    if (wanted.previousId && wanted.previous === undefined) return previousNotFound()
    const answers = await answersIn(wanted, core, state)
    const asker = new RequestAsker(request, state, core.readKeys)
    const started = await begin(core, asker, answers, how, async () => {
      const key = idempotencyKeyOf(request.headers)
      const asked = await askedFor(wanted, kept, core, state)
      return { ...asked, ...(key !== undefined && { key: { key, body: json } }) }
    })
    const { id: runId, run } = started
    state.started(runId)
    run?.arm()
    const isStream = body.stream === true
    const encoder = encoderFor(started, wanted, answers, { ...making, ...how, isStream })
    const headers = { 'x-run-id': runId }
    if (how.isBackground && !isStream) return jsonReply(encoder.queued, { headers })
    const source = await encoded(started, encoder, core, request, state)
    if (isStream) return sseReply(counted(after(encoder.begin(), source), openStream), headers)
    await readThrough(source, request.signal)
    checkEnd(encoder.end)
    return jsonReply(encoder.response, { headers })
  }
}

function encoderFor(
  { id: runId, run, record }: StartedRun,
  wanted: Wanted,
  answers: Answers | undefined,
  how: Making & { readonly keepsInput: boolean; readonly isBackground: boolean; readonly isStream: boolean },
): ResponseEncoder {
  return new ResponseEncoder({
    ...wanted,
    ...how,
    ...{ runId, isKept: how.keepsInput, isStored: run === undefined },
    createdMs: record === undefined ? Date.now() : Date.parse(record.createdAt),
    previous: answers === undefined ? (wanted.previousId ?? undefined) : idOf('resp', answers.id),
    answered: answers?.asked ?? [],
    after: how.isStream ? -1 : Number.POSITIVE_INFINITY,
  })
}

/** Reads what a request asks for. */
async function wantedBy(
  body: ResponsesBody,
  models: Models,
  kept: KeptResponses,
  { owner }: RequestState,
): Promise<Wanted> {
  const { input, tools: _, ...told } = body
  const { model, text, previous_response_id: previousId } = body
  const target = models.resolve(model)
  return {
    ...{ target, told, previousId, said: saidIn(input) },
    isJson: asksJson(Object(text).format, target, 'text.format'),
    clientTools: parseConversation({ clientTools: clientToolsOf(body) }).clientTools,
    previous: previousId ? await kept.find(previousId, owner).catch(unlessThere) : undefined,
  }
}

/** Whether a response is kept. Throws `invalid_body` for one in the background that is not to be. */
function isKeptAs(
  { store, background }: ResponsesBody,
  making: Making,
  { whyUnstored }: Pick<Core, 'whyUnstored'>,
  state: RequestState,
): boolean {
  if (store === false && background) throw misfit('store', 'must be true with `background`')
  // Whoever asks for it is told why it cannot be.
  return store ?? (background || (making.store && whyUnstored(state) === undefined))
}

/** The answers that a request has: to what its items name, or to the question that the response before has asked. */
async function answersIn(
  { target, said, previous }: Wanted,
  { host }: Pick<Core, 'host'>,
  { owner }: RequestState,
): Promise<Answers | undefined> {
  const { given, input, earlier } = said
  if (given.length === 0) {
    const answers = previous && earlier.length === 0 ? textAnswerTo(previous.record, input) : undefined
    if (answers !== undefined && previous !== undefined) checkTarget(previous.record, target)
    return answers
  }
  const answers = await answersTo(given, target, host, owner)
  if (previous === undefined || previous.record.id === answers.id) return answers
  throw misfit('previous_response_id', 'must be the response that has asked this, or be left out')
}

/** A new run. */
async function askedFor(
  { target, said, told, clientTools, previous }: Wanted,
  kept: KeptResponses,
  core: Core,
  state: RequestState,
): Promise<AskedRun> {
  const { input, earlier } = said
  const conversation = conversationOf(told)
  if (input === undefined) throw misfit('input', 'must have a message of the user after all others')
  if (conversation !== undefined) {
    if (previous !== undefined) throw misfit('conversation', 'must be left out with `previous_response_id`')
    if (earlier.some(message => !('role' in message) || message.role !== 'system'))
      throw misfit('input', 'must be one message of the user: the conversation has what was said before')
    const why = core.whyUnstored(state)
    if (why !== undefined) throw new ServableError('runs_not_stored', why)
    return {
      ...{ target, clientTools, metadata: { openai: told } },
      input: validate(RunInputSchema, input, 'invalid_body', 'input'),
      sessionId: validate(idText, conversation, 'invalid_body', 'conversation'),
    }
  }
  const { instructions } = told
  const before: HistoryMessage[] = [
    ...(typeof instructions === 'string' ? [{ role: 'system' as const, content: instructions }] : []),
    ...(previous === undefined ? [] : await kept.historyOf(previous, state.owner)),
  ]
  const own = await resolved(earlier, core, state)
  const isHeard = ({ role }: HistoryMessage) => role !== 'system' || core.runs.clientSystem === 'append'
  const history = answeredOnly([...before, ...own]).filter(isHeard)
  const inputItems = history.length - answeredOnly(before).filter(isHeard).length
  return {
    ...(await askedBy(
      { thread: undefined, input, history: () => history, clientTools },
      target,
      core,
      state,
    )),
    metadata: { openai: { ...told, input_items: inputItems } },
  }
}

/** Messages with what is only named. Throws `run_not_found` for an item of nothing that is kept for this client. */
async function resolved(
  earlier: Said['earlier'],
  { host }: Pick<Core, 'host'>,
  { owner }: RequestState,
): Promise<HistoryMessage[]> {
  const records = new Map<string, Promise<RunRecord>>()
  const idIn = ({ reference, path }: Reference) => {
    const id = runOf(reference)
    if (id !== undefined) return id
    throw new ServableError('run_not_found', `\`${path}\`: there is no such item`)
  }
  const ids = new Set(earlier.flatMap(each => ('reference' in each ? [idIn(each)] : [])))
  if (ids.size > MAX_REFERENCES)
    throw misfit('input', `must name items of at most ${MAX_REFERENCES} earlier responses`)
  for (const id of ids) records.set(id, host.get(id, owner))
  await Promise.all(records.values())
  const messages: HistoryMessage[] = []
  for (const each of earlier) {
    if (!('reference' in each)) {
      messages.push(each)
      continue
    }
    const id = idIn(each)
    const record = await records.get(id)
    // Each response has several items, and is told once.
    records.delete(id)
    if (record !== undefined) messages.push(...saidBy(record))
  }
  return messages
}

function unlessThere(error: unknown): undefined {
  if (!isServableError(error) || error.code !== 'run_not_found') throw error
}

function previousNotFound(): Response {
  return errorResponse(400, new Headers(), {
    message: '`previous_response_id`: there is no such response, or it is not kept any more',
    param: 'previous_response_id',
    code: 'previous_response_not_found',
  })
}
