/**
 * Earlier messages as clients of other protocols tell them.
 *
 * @module
 */

import type { ContentPart, HistoryMessage, RunInput } from '../agents/contract.ts'
import { parseJson } from '../web/json.ts'

/** Without calls that have no result, results of no call, and messages that say nothing: models refuse them. */
export function answeredOnly(messages: readonly HistoryMessage[]): HistoryMessage[] {
  const results = new Set(messages.flatMap(each => (each.role === 'tool' ? [each.toolCallId] : [])))
  const open = new Map<string, string>()
  return messages.flatMap((message): HistoryMessage | [] => {
    switch (message.role) {
      case 'tool': {
        const toolName = open.get(message.toolCallId)
        return open.delete(message.toolCallId) ? { ...message, toolName } : []
      }
      case 'assistant': {
        const { toolCalls: all = [], ...said } = message
        const toolCalls = all.filter(
          ({ toolCallId, toolName }) => results.delete(toolCallId) && open.set(toolCallId, toolName),
        )
        if (toolCalls.length > 0) return { ...said, toolCalls }
        return said.content?.length ? said : []
      }
      default:
        return message.content.length > 0 ? message : []
    }
  })
}

/** JSON that a body has as text, within the bounds of the body itself; the text where it is none. */
export function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return text
  }
}

/** What a tool gave or a page says, which clients of text carry as JSON. */
export function givenIn(content: unknown): unknown {
  if (typeof content !== 'string' || !/^\s*([[{]|(true|false)\s*$)/.test(content)) return content
  return parsed(content)
}

/** What a user says: as text where it is nothing else. */
export function inputOf(parts: readonly ContentPart[]): RunInput {
  const [first] = parts
  if (first === undefined) return ''
  return parts.length === 1 && first.type === 'text' ? first.text : parts
}
