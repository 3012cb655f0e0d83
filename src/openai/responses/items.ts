/**
 * The input of Responses: text, or items.
 *
 * @module
 */

import * as v from 'valibot'
import type { Answer, ContentPart, HistoryMessage, RunInput } from '../../agents/contract.ts'
import { givenIn, inputOf, parsed } from '../../encoders/history.ts'
import { urlOf } from '../../encoders/parts.ts'
import { list, misfit } from '../../validation.ts'
import type { Given } from '../answers.ts'
import { bodyOf, type CommonBody, type Fields, object } from '../body.ts'
import { partsOf } from '../parts.ts'

/** Items of one request. */
const MAX_ITEMS = 10_000

/** The body of a request. */
export interface ResponsesBody extends CommonBody {
  readonly input: string | readonly Fields[]
  readonly instructions?: string | null
  readonly previous_response_id?: string | null
  readonly conversation?: string | { readonly id: string } | null
  readonly store?: boolean | null
  readonly background?: boolean | null
  readonly text?: unknown
}

/** The schema of a body. */
export const ResponsesBodySchema: v.GenericSchema<unknown, ResponsesBody> = bodyOf({
  input: v.union([v.string(), list(object, MAX_ITEMS)], 'must be text or an array of items'),
  instructions: v.nullish(v.string('must be text')),
  previous_response_id: v.nullish(v.string('must be text')),
  conversation: v.nullish(
    v.union(
      [v.string(), v.object({ id: v.string() })],
      'must be the id of a conversation, or an object with an `id`',
    ),
  ),
  store: v.nullish(v.boolean('must be true or false')),
  background: v.nullish(v.boolean('must be true or false')),
  metadata: v.nullish(object),
  text: v.nullish(v.unknown()),
})

/** What a client says. */
export interface Said {
  /** The newest message of the user; undefined where answers come after it, or where there is none. */
  readonly input: RunInput | undefined
  /** What comes before that, or what is only named: the id of an item that was told before. */
  readonly earlier: readonly (HistoryMessage | Reference)[]
  /** What comes after the newest message of the user. */
  readonly given: readonly Given[]
}

/** An item of an earlier response, by its id. */
export interface Reference {
  readonly reference: string
  readonly path: string
}

/** Reads the input of a request. Throws `invalid_body` for an item that is not well formed. Unknown ones are left out. */
export function saidIn(input: string | readonly Fields[]): Said {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  const earlier: (HistoryMessage | Reference)[] = []
  let given: Given[] = []
  let newest: { at: number; input: RunInput } | undefined
  items.forEach((item, at) => {
    const path = `input.${at}`
    const answer = givenBy(item, path)
    if (answer !== undefined) given.push(answer)
    const told = toEarlier(item, path)
    if (told === undefined) return
    if ('role' in told && told.role === 'user') {
      given = []
      newest = { at: earlier.length, input: told.content }
    }
    push(earlier, told)
  })
  return given.length === 0 && newest !== undefined
    ? { input: newest.input, earlier: earlier.toSpliced(newest.at, 1), given }
    : { input: undefined, earlier, given }
}

/** Adds a message. What one assistant says and calls is one message: results of its calls come after all of them. */
function push(messages: (HistoryMessage | Reference)[], message: HistoryMessage | Reference): void {
  const last = messages.at(-1)
  const isCall = 'role' in message && message.role === 'assistant' && message.content === undefined
  if (isCall && last !== undefined && 'role' in last && last.role === 'assistant') {
    messages[messages.length - 1] = {
      ...last,
      toolCalls: [...(last.toolCalls ?? []), ...(message.toolCalls ?? [])],
    }
  } else messages.push(message)
}

function toEarlier(item: Fields, path: string): HistoryMessage | Reference | undefined {
  const { type = 'message', id, call_id: toolCallId, name: toolName, arguments: args } = item
  switch (type) {
    case 'message':
      return toMessage(item, path)
    case 'function_call':
      if (typeof toolCallId !== 'string' || typeof toolName !== 'string' || typeof args !== 'string')
        throw misfit(path, 'must have `call_id`, `name` and `arguments`')
      return { role: 'assistant', toolCalls: [{ toolCallId, toolName, args: parsed(args) }] }
    case 'function_call_output':
      if (typeof toolCallId !== 'string') throw misfit(`${path}.call_id`, 'must be text')
      return { role: 'tool', toolCallId, result: outputOf(item, path) }
    case 'item_reference':
      if (typeof id !== 'string') throw misfit(`${path}.id`, 'must be text')
      return { reference: id, path: `${path}.id` }
    default:
      return undefined
  }
}

function toMessage({ role, content }: Fields, path: string): HistoryMessage {
  const said = inputOf(partsOf(content, `${path}.content`))
  if (role === 'user' || role === 'assistant') return { role, content: said }
  if (role === 'system' || role === 'developer') return { role: 'system', content: said }
  throw misfit(`${path}.role`, 'must be user, assistant, system or developer')
}

function outputOf({ output }: Fields, path: string): unknown {
  return givenIn(inputOf(partsOf(output, `${path}.output`)))
}

function givenBy(item: Fields, path: string): Given | undefined {
  const { type, call_id, approval_request_id, approve, reason } = item
  if (type === 'function_call_output')
    return { id: String(call_id), answer: { result: outputOf(item, path) }, path: `${path}.call_id` }
  if (type !== 'mcp_approval_response') return undefined
  return {
    id: String(approval_request_id),
    answer: {
      decision: approve === true ? 'approve' : 'deny',
      ...(typeof reason === 'string' && reason !== '' && { reason }),
    },
    path: `${path}.approval_request_id`,
  }
}

/** An item of a list. */
export type Listed = object & { readonly id: string }

/** Messages as items of an input. `idOf` gives each an id of its own. */
export function itemsOf(messages: readonly HistoryMessage[], idOf: (at: number) => string): Listed[] {
  const items = messages.flatMap((message): object[] => {
    if (message.role === 'tool') return [outputItem(message.toolCallId, message.result)]
    const { role, content = '' } = message
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
    return [
      ...(content.length > 0
        ? [{ type: 'message', role, status: 'completed', content: contentOf(content, role) }]
        : []),
      ...calls.map(({ toolCallId: call_id, toolName: name, args }) => ({
        ...{ type: 'function_call', call_id, name, arguments: textOf(args), status: 'completed' },
      })),
    ]
  })
  return items.map((item, at) => ({ id: idOf(at), ...item }))
}

/** What a client answered, as an item. `id` is the one that it knows the request by. */
export function answerItem(id: string, answer: Answer): object {
  if ('result' in answer) return outputItem(id, answer.result)
  if ('value' in answer)
    return { type: 'message', role: 'user', content: contentOf(textOf(answer.value), 'user') }
  const { decision, reason = null } = answer as Extract<Answer, { decision: unknown }>
  return {
    type: 'mcp_approval_response',
    ...{ approval_request_id: id, approve: decision === 'approve', reason },
  }
}

function outputItem(call_id: string, result: unknown): object {
  return { type: 'function_call_output', call_id, output: textOf(result), status: 'completed' }
}

function contentOf(content: RunInput, role: string): object[] {
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  return parts.map(part =>
    part.type === 'text'
      ? { type, text: part.text, ...(role === 'assistant' && { annotations: [] }) }
      : fileItem(part),
  )
}

function fileItem(part: Exclude<ContentPart, { type: 'text' }>): object {
  if (part.type === 'data') return { type: 'input_text', text: textOf(part.data) }
  const { type, data, mimeType = '' } = part
  if (type === 'audio') return { type: 'input_audio', input_audio: { data, format: mimeType.slice(6) } }
  const url = urlOf(data, mimeType)
  if (type === 'image') return { type: 'input_image', image_url: url, detail: 'auto' }
  const { filename = null } = part as { filename?: string | null }
  return { type: 'input_file', filename, ...(url === data ? { file_url: url } : { file_data: url }) }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
