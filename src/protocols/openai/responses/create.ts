/**
 * `POST /responses`.
 *
 * @module
 */

import * as v from 'valibot'
import type { ClientTool, HistoryMessage } from '../../../agents/contract.ts'
import { ServableError } from '../../../base/errors.ts'
import { flag } from '../../../base/schemas.ts'
import { misfit, validate } from '../../../base/validation.ts'
import type { Core } from '../../../core/built-in.ts'
import type { Endpoint, RequestState } from '../../../http/context.ts'
import { ignoring } from '../../../http/runs/ignoring.ts'
import type { AskedRun } from '../../../http/runs/start-run.ts'
import { parseConversation, RunInputSchema } from '../../../runs/input.ts'
import type { Target } from '../../../runs/target.ts'
import { idText, toldBy } from '../../encoders/conversation.ts'
import { answeredOnly } from '../../encoders/history.ts'
import { askedForText } from '../../encoders/questions.ts'
import { type Answers, answersTo, askedBy, checkTarget, idFor } from '../answers.ts'
import {
  asksJson,
  type CommonBody,
  clientToolsOf,
  commonFields,
  type Fields,
  object,
  objects,
} from '../body.ts'
import { endpointOf } from '../endpoint.ts'
import { PREVIOUS } from '../errors.ts'
import { idOf, runOf } from '../ids.ts'
import { type Said, saidIn } from '../messages.ts'
import type { Models } from '../models.ts'
import { type About, ResponseEncoder } from './encoder.ts'
import { itemsIn, toldIn } from './items.ts'
import { findKept, historyOf, type KeptResponse, saidBy } from './kept.ts'
import { formatIn, idIn } from './object.ts'

/** Most earlier responses that one input may name items of. */
const MAX_REFERENCES = 100

/** How responses are made. */
export interface Making extends Pick<About, 'toolCalls'> {
  /** Whether a response is kept where a request does not say. */
  readonly store: boolean
}

/** The body of a request. */
export interface ResponsesBody extends CommonBody {
  readonly input: string | readonly Fields[]
  readonly instructions?: string | undefined
  readonly previous_response_id?: string | undefined
  readonly conversation?: unknown
  readonly store?: boolean | undefined
  readonly background?: boolean | undefined
}

const text = v.string('must be text')

/** The schema of a body. */
export const ResponsesBodySchema: v.GenericSchema<unknown, ResponsesBody> = v.object({
  ...commonFields,
  input: v.union([text, objects], 'must be text or an array of items'),
  instructions: v.optional(text),
  previous_response_id: v.optional(text),
  conversation: v.optional(v.union([idText, v.object({ id: idText })], 'must be the id of a conversation')),
  store: v.optional(flag),
  background: v.optional(flag),
  metadata: v.optional(object),
  text: v.optional(object),
})

/** What a request asks for. */
interface Wanted {
  readonly target: Target
  readonly said: Said
  readonly body: ResponsesBody
  readonly clientTools: readonly ClientTool[] | undefined
  readonly previous: KeptResponse | undefined
}

/** Makes responses. */
export function createResponse(core: Core, models: Models, { toolCalls, store }: Making): Endpoint {
  return endpointOf(core, async (json, state) => {
    const body = validate(ResponsesBodySchema, json, 'invalid_body', 'body')
    const { model, stream: isStream = false, background: isBackground = false } = body
    const { previous_response_id: previousId } = body
    if (body.store === false && isBackground) throw misfit('store', 'must be true with `background`')
    // Whoever asks for it is told why it cannot be.
    const isKept = body.store ?? (isBackground || (store && core.whyUnstored(state) === undefined))
    const target = models.resolve(model)
    const previous = previousId
      ? await findKept(previousId, core, state.owner).catch(ignoring('run_not_found'))
      : undefined
    if (previousId && previous === undefined) throw misfit(PREVIOUS, 'must be a kept response')
    const { clientTools } = parseConversation({ clientTools: clientToolsOf(body) })
    const said = saidIn(toldIn(itemsIn(body.input)), 'input')
    const wanted = { target, said, body, clientTools, previous }
    const answers = await answersIn(wanted, core, state)
    const { tools: _, ...openai } = json
    const about = {
      ...{ model, isStream, isJson: asksJson(formatIn(json), target, 'text.format') },
      ...{ body: openai, clientTools, isKept, isBackground, toolCalls },
      previous: answers === undefined ? previousId : idOf('resp', answers.id),
      answered: answers?.asked ?? [],
      isQueued: isBackground && !isStream,
    }
    return {
      answers,
      how: { isBackground, keepsInput: isKept, metadata: { openai } },
      asked: () => askedFor(wanted, core, state),
      toEncoder: facts => new ResponseEncoder({ ...facts, ...about }),
    }
  })
}

/** The answers that a request has: to what its items name, or to the question that the response before has asked. */
async function answersIn(
  { target, said: { given, input, earlier }, previous }: Wanted,
  { host }: Pick<Core, 'host'>,
  { owner }: RequestState,
): Promise<Answers | undefined> {
  const record = previous?.record
  if (given.length > 0) return answersTo({ given, earlier, target, previousId: record?.id }, host, owner)
  if (record?.requests?.length !== 1 || earlier.length > 0 || !input || typeof input !== 'string')
    return undefined
  const question = askedForText(record.requests)
  if (question === undefined) return undefined
  checkTarget(record, target)
  return { id: record.id, answers: [{ id: question.id, value: input }], asked: askedBy(record) }
}

/** A new run. */
async function askedFor(
  { target, said: { input, earlier }, body, clientTools, previous }: Wanted,
  core: Core,
  state: RequestState,
): Promise<AskedRun> {
  const { conversation, instructions } = body
  if (conversation !== undefined) {
    if (previous !== undefined) throw misfit('conversation', `must be left out with \`${PREVIOUS}\``)
    if (input === undefined || earlier.some(({ role }) => role !== 'system'))
      throw misfit('input', 'must be one new message')
    const why = core.whyUnstored(state)
    if (why !== undefined) throw new ServableError('runs_not_stored', why)
    const sessionId = idIn(conversation) as string
    return { target, clientTools, input: validate(RunInputSchema, input, 'invalid_body', 'input'), sessionId }
  }
  const messages: HistoryMessage[] = [
    ...(instructions ? [{ role: 'system' as const, content: instructions }] : []),
    ...(previous === undefined ? [] : await historyOf(previous, core, state.owner)),
    ...asCalled(await resolved(earlier, core, state), previous),
  ]
  const history = () => answeredOnly(messages)
  return toldBy({ input, history, clientTools }, target)
}

/** Results with the ids by which the history of the response before them knows the calls. */
function asCalled(messages: HistoryMessage[], previous: KeptResponse | undefined): HistoryMessage[] {
  if (previous === undefined) return messages
  const { record } = previous
  const ids = new Map(askedBy(record).map(request => [idFor(record.id, request), request.toolCallId]))
  return messages.map(each =>
    each.role === 'tool' ? { ...each, toolCallId: ids.get(each.toolCallId) ?? each.toolCallId } : each,
  )
}

/** Messages with what is only named. Throws `run_not_found` for an item of nothing that is kept for this client. */
async function resolved(
  earlier: Said['earlier'],
  core: Pick<Core, 'host'>,
  { owner }: RequestState,
): Promise<HistoryMessage[]> {
  const seen = new Set<string>()
  const messages = await Promise.all(
    earlier.map(async (each): Promise<HistoryMessage[]> => {
      if (each.role === 'decision') return []
      if (each.role !== 'reference') return [each]
      const id = runOf(each.id) ?? ''
      // A response has several items, and is told once.
      if (seen.has(id)) return []
      if (seen.add(id).size > MAX_REFERENCES) throw misfit('input', 'must name fewer responses')
      return saidBy(await findKept(idOf('resp', id), core, owner))
    }),
  )
  return messages.flat()
}
