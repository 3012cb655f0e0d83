/**
 * Earlier messages, as clients of other protocols send them.
 *
 * @module
 */

import type { ContentPart, HistoryMessage, RunInput } from '../../agents/contract.ts'
import { parseJson } from '../../web/json.ts'

/**
 * Returns the messages without calls that have no result, results that have no call, and empty messages. Each result follows its
 * call. Models refuse anything else.
 */
export function answeredOnly(messages: readonly HistoryMessage[]): HistoryMessage[] {
  const results = new Map<string, HistoryMessage>()
  // If a call has two results, the first counts.
  for (const each of messages.toReversed()) if (each.role === 'tool') results.set(each.toolCallId, each)
  return messages.flatMap((message): HistoryMessage | HistoryMessage[] => {
    if (message.role === 'tool') return []
    // Only messages of assistants have calls.
    const { toolCalls: all = [], ...rest } = message as Extract<HistoryMessage, { role: 'assistant' }>
    const given: HistoryMessage[] = []
    const toolCalls = all.filter(({ toolCallId, toolName }) => {
      const result = results.get(toolCallId)
      return result && results.delete(toolCallId) && given.push({ ...result, toolName } as HistoryMessage)
    })
    if (toolCalls.length > 0) return [{ ...rest, toolCalls }, ...given]
    return rest.content?.length ? rest : []
  })
}

/** Parses JSON that a body has as text, within the limits of bodies. Returns the text itself if it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return text
  }
}

/** The value of a tool's result or a decision. Clients that send only text send it as JSON. */
export function givenIn(content: unknown): unknown {
  if (typeof content !== 'string' || !/^\s*([[{]|(true|false)\s*$)/.test(content)) return content
  return parsed(content)
}

/** The parts of a user's message as an input: a string if it is a single text. */
export function inputOf(parts: readonly ContentPart[]): RunInput {
  const [first] = parts
  if (first === undefined) return ''
  return parts.length === 1 && first.type === 'text' ? first.text : parts
}
