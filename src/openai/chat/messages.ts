/**
 * The messages of Chat Completions.
 *
 * @module
 */

import * as v from 'valibot'
import type { HistoryMessage, RunInput } from '../../agents/contract.ts'
import { answeredOnly, givenIn, inputOf, parsed } from '../../encoders/history.ts'
import { MAX_PARTS } from '../../runs/input.ts'
import { list, misfit } from '../../validation.ts'
import type { Given } from '../answers.ts'
import { bodyOf, type CommonBody, type Fields, object } from '../body.ts'
import { partsOf } from '../parts.ts'

/** Messages of one request. */
const MAX_MESSAGES = 10_000

/** The body of a request. */
export interface ChatBody extends CommonBody {
  readonly messages: readonly Fields[]
}

/** The schema of a body. */
export const ChatBodySchema: v.GenericSchema<unknown, ChatBody> = bodyOf({
  messages: v.pipe(list(object, MAX_MESSAGES), v.nonEmpty('must have at least one message')),
  n: v.nullish(v.literal(1, 'must be 1')),
  response_format: v.nullish(v.unknown()),
  stream_options: v.nullish(v.unknown()),
})

/** What a client says: something new, with what was said before, or what its tools gave. */
export interface Said {
  readonly input: RunInput
  readonly history: () => readonly HistoryMessage[]
  readonly given: readonly Given[]
}

/** Reads messages. Throws `invalid_body` where the last one is neither of the user nor of a tool. */
export function saidIn(messages: readonly Fields[]): Said {
  const last = messages.findLastIndex(({ role }) => role !== 'system' && role !== 'developer')
  const role = messages[last]?.role
  if (role !== 'user' && role !== 'tool')
    throw misfit('messages', 'must end with a message of the user, or with the results of tools')
  const read = messages.map((message, at) => toHistory(message, `messages.${at}`))
  const earlier = () => answeredOnly(read.filter((_, at) => at !== last))
  if (role === 'user') {
    const { content = [] } = read[last] as { content?: RunInput }
    return { input: content, history: earlier, given: [] }
  }
  const first = messages.findLastIndex(each => each.role === 'user' || each.role === 'assistant') + 1
  const given = read.flatMap((message, at): Given[] => {
    if (at < first || message.role !== 'tool') return []
    const { toolCallId: id, result } = message
    return [{ id, answer: { result: givenIn(result) }, path: `messages.${at}.tool_call_id` }]
  })
  return { input: '', history: earlier, given }
}

function toHistory(message: Fields, path: string): HistoryMessage {
  const { role, tool_call_id: toolCallId } = message
  const parts = partsOf(message.content, `${path}.content`)
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: inputOf(parts) }
    case 'user':
      return { role, content: inputOf(parts) }
    case 'assistant':
      return { role, content: inputOf(parts), toolCalls: callsOf(message.tool_calls, `${path}.tool_calls`) }
    case 'tool':
      if (typeof toolCallId !== 'string') throw misfit(`${path}.tool_call_id`, 'must be text')
      return { role, toolCallId, result: inputOf(parts) }
    default:
      throw misfit(`${path}.role`, 'must be system, developer, user, assistant or tool')
  }
}

function callsOf(calls: unknown, path: string) {
  if (calls === undefined || calls === null) return []
  if (!Array.isArray(calls) || calls.length > MAX_PARTS) throw misfit(path, 'must be an array of calls')
  return calls.map((call, at) => {
    const { id: toolCallId, function: called } = Object(call) as Fields
    const { name: toolName, arguments: args } = Object(called) as Fields
    if (isName(toolCallId) && isName(toolName) && typeof args === 'string')
      return { toolCallId, toolName, args: parsed(args) }
    throw misfit(`${path}.${at}`, 'must have an `id`, and a `function` with a name and arguments')
  })
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
