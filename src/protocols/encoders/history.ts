/**
 * Earlier messages as clients of other protocols tell them.
 *
 * @module
 */

import type { ContentPart, HistoryMessage, RunInput } from '../../agents/contract.ts'
import { parseJson } from '../../web/json.ts'

/**
 * Without calls that have no result, results of no call, and messages that say nothing; results come next to their calls: models
 * refuse all else.
 */
export function answeredOnly(messages: readonly HistoryMessage[]): HistoryMessage[] {
  const results = new Map<string, HistoryMessage>()
  // Of two results the first counts.
  for (const each of messages.toReversed()) if (each.role === 'tool') results.set(each.toolCallId, each)
  return messages.flatMap((message): HistoryMessage | HistoryMessage[] => {
    if (message.role === 'tool') return []
    // Nobody else has calls.
    const { toolCalls: all = [], ...said } = message as Extract<HistoryMessage, { role: 'assistant' }>
    const given: HistoryMessage[] = []
    const toolCalls = all.filter(({ toolCallId, toolName }) => {
      const result = results.get(toolCallId)
      return result && results.delete(toolCallId) && given.push({ ...result, toolName } as HistoryMessage)
    })
    if (toolCalls.length > 0) return [{ ...said, toolCalls }, ...given]
    return said.content?.length ? said : []
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
