/**
 * The input of a run as messages of the AI SDK. Mastra and VoltAgent take them too.
 *
 * @module
 */

import type { ContentPart, HistoryMessage, RunInput } from '../../../agents/contract.ts'
import { assistantText, namesIn, type PassedMessage, turnsOf } from '../history.ts'
import { mediaTypeOf } from '../media.ts'

/** Returns text unchanged, and parts as one user message. With a history the input is its last message. */
export function toAiInput(input: RunInput, history?: readonly HistoryMessage[]): unknown {
  const turns = turnsOf(history)
  if (turns === undefined) return typeof input === 'string' ? input : [userMessage(input)]
  const names = namesIn(turns)
  return [...turns.map(message => toAiMessage(message, names)), userMessage(input)]
}

/** An input as messages. */
export function messagesOf(prompt: unknown): readonly unknown[] {
  return Array.isArray(prompt) ? prompt : [{ role: 'user', content: prompt }]
}

export function userMessage(input: RunInput): object {
  return { role: 'user', content: typeof input === 'string' ? input : input.map(toAiPart) }
}

function toAiMessage(message: PassedMessage, names: ReadonlyMap<string, string>): object {
  if (message.role === 'user') return userMessage(message.content)
  if (message.role === 'assistant') {
    const text = assistantText(message)
    const calls = (message.toolCalls ?? []).map(({ toolCallId, toolName, args = {} }) => ({
      type: 'tool-call',
      toolCallId,
      toolName,
      input: args,
    }))
    const texts = text === '' ? [] : [{ type: 'text', text }]
    return { role: 'assistant', content: [...texts, ...calls] }
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
