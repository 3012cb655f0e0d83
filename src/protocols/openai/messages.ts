/**
 * Reads messages of OpenAI's clients.
 *
 * @module
 */

import type {
  ContentPart,
  HistoryMessage,
  HistoryToolCall,
  InputRequest,
  RunInput,
} from '../../core-entry.ts'
import { givenIn, inputOf, MAX_PARTS, misfit, parsed, partsOfFile } from '../encoders/index.ts'
import type { GivenAnswer } from '../models/answers.ts'
import { type Fields, textIn } from '../models/body.ts'
import { approvalIdOf, callIdOf } from '../models/ids.ts'

/** The id of a request for the client. */
export function idFor(runId: string, { id, kind, toolCallId = id }: InputRequest): string {
  return (kind === 'approval' ? approvalIdOf : callIdOf)(runId, toolCallId)
}

/** Reads a message. Throws `invalid_body`. */
export function messageOf(message: Fields, path: string): OpenAiMessage {
  const { role, tool_calls: calls } = message
  const content = contentOf(message.content, `${path}.content`)
  if (role === 'user') return { role, content }
  if (role === 'system' || role === 'developer') return { role: 'system', content }
  if (role === 'tool')
    return { role, toolCallId: textIn(message.tool_call_id, `${path}.tool_call_id`), result: content }
  if (role !== 'assistant') throw misfit(`${path}.role`, 'must be system, developer, user, assistant or tool')
  const toolCalls = (Array.isArray(calls) ? calls : []).map((call, at) => {
    const { id, function: called } = Object(call)
    return callOf(id, Object(called), `${path}.tool_calls.${at}`)
  })
  return { role, content, toolCalls }
}

/** Reads a call. Its arguments are JSON as text. */
export function callOf(id: unknown, { name, arguments: args }: Fields, path: string): HistoryToolCall {
  return {
    toolCallId: textIn(id, path),
    toolName: textIn(name, `${path}.name`),
    args: typeof args === 'string' ? parsed(args) : args,
  }
}

/** A decision of a person, with the id of its request. */
export interface DecisionItem extends GivenAnswer {
  readonly role: 'decision'
}

/** A reference to an item of an earlier response, by its id. */
export interface ReferenceItem {
  readonly role: 'reference'
  readonly id: string
}

/** A message of the assistant. */
interface AssistantMessage {
  readonly role: 'assistant'
  readonly content?: RunInput
  readonly toolCalls: HistoryToolCall[]
}

/** A message. */
export type OpenAiMessage = Exclude<HistoryMessage, { role: 'assistant' }> | AssistantMessage

/** An item of a client's input. */
export type InputItem = OpenAiMessage | DecisionItem | ReferenceItem

/** The input of a client: a new message, or answers, and the earlier items. */
export interface ParsedInput {
  /** The newest message of the user. Undefined if answers follow it. */
  readonly input: RunInput | undefined
  /** All other items. */
  readonly earlier: readonly InputItem[]
  readonly given: readonly GivenAnswer[]
}

/**
 * Separates the new message or answers from the earlier items. `path` names the items. Throws `invalid_body` if nothing is new.
 */
export function splitInput(messages: readonly InputItem[], path: string): ParsedInput {
  const last = messages.findLastIndex(({ role }) => role !== 'system')
  const newest = messages[last]
  switch (newest?.role) {
    case 'user':
      return { input: newest.content, earlier: messages.toSpliced(last, 1), given: [] }
    case 'tool':
    case 'decision': {
      const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
      return { input: undefined, earlier: messages, given: since.flatMap(givenBy) }
    }
    default:
      throw misfit(path, 'must end with a message of the user, or with answers')
  }
}

function givenBy(message: InputItem): GivenAnswer | [] {
  if (message.role === 'decision') return message
  return message.role === 'tool'
    ? { id: message.toolCallId, answer: { result: givenIn(message.result) } }
    : []
}

/** Reads a content: text, or an array of parts. Throws `invalid_body` for anything else, and for a file that is only an id. */
function contentOf(content: unknown, path: string): RunInput {
  if (typeof content === 'string') return content
  const parts = content ?? []
  if (Array.isArray(parts) && parts.length <= MAX_PARTS)
    return inputOf(parts.flatMap((part, at) => partOf(Object(part), `${path}.${at}`)))
  throw misfit(path, `must be text or at most ${MAX_PARTS} parts`)
}

/** Matches the beginning of a `data:` URL of base64, with its type. */
const DATA_URL = /^data:([^,;]{0,200})[^,]{0,200};base64,/

/** Reads a part. Its fields determine its type, because the names of types differ in Responses. */
function partOf(part: Fields, path: string): ContentPart[] {
  const { text = part.refusal, image_url: image, input_audio: audio, file = part } = part
  if (typeof text === 'string') return text === '' ? [] : [{ type: 'text', text }]
  const { data, format } = Object(audio)
  const { file_data, file_url, filename } = Object(file)
  const given = data ?? Object(image).url ?? image ?? file_data ?? file_url
  if (typeof given !== 'string' || given === '')
    throw misfit(path, 'must have text, or a file as data or a URL: a `file_id` is not known')
  const [head = '', named] = DATA_URL.exec(given.slice(0, 500)) ?? []
  const type = image ? 'image/*' : audio ? (format === 'mp3' ? 'audio/mpeg' : 'audio/wav') : ''
  const name = typeof filename === 'string' ? filename : undefined
  return partsOfFile(given.slice(head.length), named || type, name)
}
