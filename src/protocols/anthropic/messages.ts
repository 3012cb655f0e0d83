/**
 * Reads the messages of a client: the new one or its results of tools, and the earlier ones.
 *
 * @module
 */

import type { ContentPart, HistoryMessage, RunInput } from '../../core-entry.ts'
import { inputOf, misfit } from '../encoders/index.ts'
import type { GivenAnswer } from '../models/answers.ts'
import type { Fields } from '../models/body.ts'
import { answerOf, type Blocks, blocksIn, rawOf, textOf } from './blocks.ts'

/** The messages of a client. */
export interface ParsedMessages {
  /** What the user says now. Undefined if the newest message has results alone. */
  readonly input: RunInput | undefined
  /** All messages but that. */
  readonly earlier: readonly Spoken[]
  /** The results of the newest message. */
  readonly given: readonly GivenAnswer[]
}

/** A message with the parts that were said. */
export type Spoken = Exclude<HistoryMessage, { role: 'tool' }> | ResultMessage

interface ResultMessage {
  readonly role: 'tool'
  readonly toolCallId: string
  readonly result: unknown
}

const ROLES = ['user', 'assistant', 'system'] as const
type Role = (typeof ROLES)[number]

/**
 * Separates what is new from the earlier messages. New is what the user says after the last message of the assistant. System messages
 * may stand anywhere, also at the end. Throws `invalid_body` if nothing is new.
 */
export function parseMessages(messages: readonly Fields[], system: string): ParsedMessages {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  const earlier: Spoken[] = system === '' ? [] : [{ role: 'system', content: system }]
  const parts: ContentPart[] = []
  const beside: ContentPart[] = []
  const results: Blocks['results'] = []
  for (const [at, message] of messages.entries()) {
    const path = `messages.${at}`
    const role = roleOf(message, path)
    const isNew = at > last && role === 'user'
    const blocks = blocksIn(message.content, `${path}.content`, isNew)
    if (isNew) {
      parts.push(...blocks.parts)
      results.push(...blocks.results)
    } else earlier.push(...spoken(role, blocks))
    if (at > last) beside.push(...blocks.parts)
  }
  if (parts.length === 0 && results.length === 0)
    throw misfit('messages', 'must end with a message of the user, or with results of tools')
  // In their place in the conversation, for a run that takes it over.
  earlier.push(...results.map(resultOf))
  return {
    input: parts.length === 0 ? undefined : inputOf(parts),
    earlier,
    given: results.map((result, at) => answerOf(result, at === results.length - 1 ? beside : [])),
  }
}

function roleOf({ role }: Fields, path: string): Role {
  const known = ROLES.find(each => each === role)
  if (known !== undefined) return known
  throw misfit(`${path}.role`, 'must be user, assistant or system')
}

/** An earlier message. Its results stand before its text, as they follow the calls. */
function spoken(role: Role, { parts, calls: toolCalls, results }: Blocks): Spoken[] {
  const content = inputOf(parts)
  if (role === 'assistant') return [{ role, content, ...(toolCalls.length > 0 && { toolCalls }) }]
  return [...results.map(resultOf), ...(content.length > 0 ? [{ role, content }] : [])]
}

function resultOf({ id, content, isError }: Blocks['results'][number]): ResultMessage {
  return { role: 'tool', toolCallId: id, result: isError ? { error: textOf(content) } : rawOf(content) }
}
