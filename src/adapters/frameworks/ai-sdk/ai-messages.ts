/**
 * The input of a run as messages of the AI SDK. Mastra and VoltAgent take them too.
 *
 * @module
 */

import type { ContentPart, HistoryMessage, RunInput } from '../../../agents/contract.ts'
import { namesIn, spokenText, type Told, toldOf } from '../history.ts'
import { mediaTypeOf } from '../media.ts'

/** Text as it is, parts as one message of the user. With a history it is the last of its messages. */
export function toAiInput(input: RunInput, history?: readonly HistoryMessage[]): unknown {
  const told = toldOf(history)
  if (told === undefined) return typeof input === 'string' ? input : [userMessage(input)]
  const names = namesIn(told)
  return [...told.map(message => toAiMessage(message, names)), userMessage(input)]
}

/** An input as messages. */
export function messagesOf(prompt: unknown): readonly unknown[] {
  return Array.isArray(prompt) ? prompt : [{ role: 'user', content: prompt }]
}

function userMessage(input: RunInput): object {
  return { role: 'user', content: typeof input === 'string' ? input : input.map(toAiPart) }
}

function toAiMessage(message: Told, names: ReadonlyMap<string, string>): object {
  if (message.role === 'user') return userMessage(message.content)
  if (message.role === 'assistant') {
    const text = spokenText(message)
    const calls = (message.toolCalls ?? []).map(({ toolCallId, toolName, args = {} }) => ({
      type: 'tool-call',
      toolCallId,
      toolName,
      input: args,
    }))
    const said = text === '' ? [] : [{ type: 'text', text }]
    return { role: 'assistant', content: [...said, ...calls] }
  }
  const { toolCallId, result } = message
  const output =
    typeof result === 'string' ? { type: 'text', value: result } : { type: 'json', value: result ?? null }
  return {
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId, toolName: names.get(toolCallId), output }],
  }
}

function toAiPart(part: ContentPart): object {
  if (part.type === 'text') return { type: 'text', text: part.text }
  if (part.type === 'data') return { type: 'text', text: JSON.stringify(part.data) }
  const mediaType = mediaTypeOf(part)
  if (part.type === 'image') return { type: 'image', image: part.data, mediaType }
  const filename = part.type === 'file' ? part.filename : undefined
  return { type: 'file', data: part.data, mediaType, ...(filename !== undefined && { filename }) }
}
