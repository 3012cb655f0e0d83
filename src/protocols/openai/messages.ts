/**
 * Messages as OpenAI's clients tell them.
 *
 * @module
 */

import type { HistoryMessage, RunInput } from '../../agents/contract.ts'
import type { HistoryToolCall } from '../../agents/run-types.ts'
import { misfit } from '../../base/validation.ts'
import { givenIn, parsed } from '../encoders/history.ts'
import type { Fields } from './body.ts'
import { contentOf } from './parts.ts'

/** Reads a message. Throws `invalid_body`. */
export function messageOf(message: Fields, path: string): Message {
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

/** Reads a call: its arguments are JSON as text. */
export function callOf(id: unknown, { name, arguments: args }: Fields, path: string): HistoryToolCall {
  return {
    toolCallId: textIn(id, path),
    toolName: textIn(name, `${path}.name`),
    args: typeof args === 'string' ? parsed(args) : args,
  }
}

/** A text that is not empty. Throws `invalid_body` for anything else. */
export function textIn(value: unknown, path: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw misfit(path, 'must be text')
}

/** An answer, by the id that the client knows its request by. */
export interface Given {
  readonly id: string
  readonly answer: object
}

/** What people decide, by the id of what they are asked. */
export interface Decision extends Given {
  readonly role: 'decision'
}

/** An item of an earlier response, by its id. */
export interface Reference {
  readonly role: 'reference'
  readonly id: string
}

/** What an assistant said. */
interface Answered {
  readonly role: 'assistant'
  readonly content?: RunInput
  readonly toolCalls: HistoryToolCall[]
}

/** A message. */
export type Message = Exclude<HistoryMessage, { role: 'assistant' }> | Answered

/** What a client tells. */
export type Told = Message | Decision | Reference

/** What a client says: something new after what was said before, or answers. */
export interface Said {
  /** The newest message of the user; undefined where answers come after it. */
  readonly input: RunInput | undefined
  /** All other messages. */
  readonly earlier: readonly Told[]
  readonly given: readonly Given[]
}

/** Tells what is new from what was said before. `path` names the messages. Throws `invalid_body` where nothing is new. */
export function saidIn(messages: readonly Told[], path: string): Said {
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

function givenBy(message: Told): Given | [] {
  if (message.role === 'decision') return message
  return message.role === 'tool'
    ? { id: message.toolCallId, answer: { result: givenIn(message.result) } }
    : []
}
