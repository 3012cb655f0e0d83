/**
 * `POST /responses`.
 *
 * @module
 */

import * as v from 'valibot'
import {
  type AskedRun,
  type Caller,
  type CallerRuns,
  type ClientTool,
  type HistoryMessage,
  type PluginCore,
  type PluginRoute,
  ServableError,
  type Target,
} from '../../../core-entry.ts'
import {
  answeredOnly,
  askedForText,
  askedRunOf,
  flag,
  idText,
  ignoring,
  misfit,
  parseConversation,
  RunInputSchema,
  validate,
} from '../../encoders/index.ts'
import { answersTo, checkTarget, type RunAnswers, requestsOf } from '../../models/answers.ts'
import { type Fields, object, objects } from '../../models/body.ts'
import { endpointOf } from '../../models/endpoint.ts'
import { idOf, runOf } from '../../models/ids.ts'
import type { Models } from '../../models/offered.ts'
import { asksJson, type CommonBody, clientToolsOf, commonFields } from '../body.ts'
import { PREVIOUS } from '../errors.ts'
import { idFor, type ParsedInput, splitInput } from '../messages.ts'
import { ResponseEncoder, type ResponseOptions } from './encoder.ts'
import { itemsIn, parseItems } from './items.ts'
import { findKept, historyOf, type KeptResponse, outputMessagesOf } from './kept.ts'
import { formatIn, idIn } from './object.ts'

/** Most earlier responses whose items one input may refer to. */
const MAX_REFERENCES = 100

/** Settings of responses. */
export interface ResponseSettings extends Pick<ResponseOptions, 'toolCalls'> {
  /** Whether to store responses if the request does not say so. */
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

/** A request, checked and resolved. */
interface RequestedResponse {
  readonly target: Target
  readonly parsed: ParsedInput
  readonly body: ResponsesBody
  readonly clientTools: readonly ClientTool[] | undefined
  readonly previous: KeptResponse | undefined
}

/** Makes the endpoint that creates responses. */
export function createResponse(
  core: PluginCore,
  models: Models,
  { toolCalls, store }: ResponseSettings,
): PluginRoute['endpoint'] {
  return endpointOf(core, async (json, caller) => {
    const body = validate(ResponsesBodySchema, json, 'invalid_body', 'body')
    const { model, stream: isStream = false, background: isBackground = false } = body
    const { previous_response_id: previousId } = body
    if (body.store === false && isBackground) throw misfit('store', 'must be true with `background`')
    // An explicit `store` fails later with the reason, if runs cannot be stored.
    const isKept = body.store ?? (isBackground || (store && caller.whyUnstored === undefined))
    const target = models.resolve(model)
    const previous = previousId
      ? await findKept(previousId, caller.runs).catch(ignoring('run_not_found'))
      : undefined
    if (previousId && previous === undefined) throw misfit(PREVIOUS, 'must be a kept response')
    const { clientTools } = parseConversation({ clientTools: clientToolsOf(body) })
    const parsed = splitInput(parseItems(itemsIn(body.input)), 'input')
    const wanted = { target, parsed, body, clientTools, previous }
    const answers = await answersIn(wanted, caller.runs)
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
      how: { isBackground, keepsInput: isKept, leavesNothing: body.store === false, metadata: { openai } },
      asked: () => newRunOf(wanted, caller),
      toEncoder: facts => new ResponseEncoder({ ...facts, ...about }),
    }
  })
}

/** The answers in a request: those of its items, or its text as the answer to the question of the previous response. */
async function answersIn(
  { target, parsed: { given, input, earlier }, previous }: RequestedResponse,
  runs: CallerRuns,
): Promise<RunAnswers | undefined> {
  const record = previous?.record
  if (given.length > 0) return answersTo({ given, earlier, target, previousId: record?.id, idFor }, runs)
  if (record?.requests?.length !== 1 || earlier.length > 0 || !input || typeof input !== 'string')
    return undefined
  const question = askedForText(record.requests)
  if (question === undefined) return undefined
  checkTarget(record, target)
  return { id: record.id, answers: [{ id: question.id, value: input }], asked: requestsOf(record) }
}

/** The new run that a request asks for. */
async function newRunOf(
  { target, parsed: { input, earlier }, body, clientTools, previous }: RequestedResponse,
  caller: Caller,
): Promise<AskedRun> {
  const { conversation, instructions } = body
  if (conversation !== undefined) {
    if (previous !== undefined) throw misfit('conversation', `must be left out with \`${PREVIOUS}\``)
    if (input === undefined || earlier.some(({ role }) => role !== 'system'))
      throw misfit('input', 'must be one new message')
    const why = caller.whyUnstored
    if (why !== undefined) throw new ServableError('runs_not_stored', why)
    const sessionId = idIn(conversation) as string
    return { target, clientTools, input: validate(RunInputSchema, input, 'invalid_body', 'input'), sessionId }
  }
  const messages: HistoryMessage[] = [
    ...(instructions ? [{ role: 'system' as const, content: instructions }] : []),
    ...(previous === undefined ? [] : await historyOf(previous, caller.runs)),
    ...asCalled(await resolved(earlier, caller.runs), previous),
  ]
  const history = () => answeredOnly(messages)
  return askedRunOf({ input, history, clientTools }, target)
}

/** The messages, whose results get the ids that the calls have in the history of the previous response. */
function asCalled(messages: HistoryMessage[], previous: KeptResponse | undefined): HistoryMessage[] {
  if (previous === undefined) return messages
  const { record } = previous
  const ids = new Map(requestsOf(record).map(request => [idFor(record.id, request), request.toolCallId]))
  return messages.map(each =>
    each.role === 'tool' ? { ...each, toolCallId: ids.get(each.toolCallId) ?? each.toolCallId } : each,
  )
}

/** Replaces references by their messages. Throws `run_not_found` for an item of no stored response of this client. */
async function resolved(earlier: ParsedInput['earlier'], runs: CallerRuns): Promise<HistoryMessage[]> {
  const seen = new Set<string>()
  const messages = await Promise.all(
    earlier.map(async (each): Promise<HistoryMessage[]> => {
      if (each.role === 'decision') return []
      if (each.role !== 'reference') return [each]
      const id = runOf(each.id) ?? ''
      // A response has several items, but its messages are added once.
      if (seen.has(id)) return []
      if (seen.add(id).size > MAX_REFERENCES) throw misfit('input', 'must name fewer responses')
      return outputMessagesOf(await findKept(idOf('resp', id), runs))
    }),
  )
  return messages.flat()
}
