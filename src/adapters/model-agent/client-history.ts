/**
 * Converts a client's history into messages for a model.
 *
 * @module
 */

import type { ModelMessage, TextPart, ToolCallPart } from 'ai'
import type { ContentPart, HistoryMessage, RunInput } from '../../agents/contract.ts'
import { textOf } from '../../agents/input.ts'
import { mediaTypeOf } from '../frameworks/media.ts'
import { toHistory } from './history.ts'
import { plainName } from './tools.ts'

/** The turns of a client's history. {@link toHistory} describes what is left out. */
export function toTurns(history: readonly HistoryMessage[] = []): ModelMessage[][] {
  const names = new Map<string, string>()
  return toHistory(history.flatMap(message => messagesOf(message, names)))
}

/** The system messages of a client, if the deployment passes them on. */
export function systemOf(history: readonly HistoryMessage[] = []): string[] {
  return history.flatMap(({ role, ...message }) =>
    role === 'system' && 'content' in message ? [messageText(message.content ?? '')] : [],
  )
}

/** `names` has the names of the earlier calls. Empty messages are left out, since no provider accepts them. */
function messagesOf(message: HistoryMessage, names: Map<string, string>): object[] {
  switch (message.role) {
    case 'system':
      return []
    case 'user':
      return message.content.length === 0 ? [] : [{ role: 'user', content: contentOf(message.content) }]
    case 'assistant': {
      const { content = '', toolCalls = [] } = message
      const text = messageText(content)
      const texts: TextPart[] = text === '' ? [] : [{ type: 'text', text }]
      const calls = toolCalls.map((call): ToolCallPart => {
        const toolName = plainName(call.toolName)
        names.set(call.toolCallId, toolName)
        return { type: 'tool-call', toolCallId: call.toolCallId, toolName, input: call.args ?? {} }
      })
      return texts.length + calls.length === 0 ? [] : [{ role: 'assistant', content: [...texts, ...calls] }]
    }
    case 'tool': {
      const { toolCallId, result } = message
      const output =
        typeof result === 'string' ? { type: 'text', value: result } : { type: 'json', value: result ?? null }
      const toolName = names.get(toolCallId) ?? plainName(message.toolName ?? toolCallId)
      return [{ role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] }]
    }
  }
}

/** The content of a user's message, as a session would have stored it. */
function contentOf(content: RunInput): string | object[] {
  return typeof content === 'string' ? content : content.map(toPart)
}

function toPart(part: ContentPart): object {
  if (part.type === 'text') return part
  if (part.type === 'data') return { type: 'text', text: textOfData(part.data) }
  const filename = part.type === 'file' && part.filename !== undefined && { filename: part.filename }
  return { type: 'file', data: part.data, mediaType: mediaTypeOf(part), ...filename }
}

/** The text of a message, with its data as JSON. Providers accept no files of an assistant. */
function messageText(content: RunInput): string {
  if (typeof content === 'string') return content
  return textOf(
    content.map(part => (part.type === 'data' ? { type: 'text', text: textOfData(part.data) } : part)),
  )
}

function textOfData(data: unknown): string {
  return JSON.stringify(data) ?? 'null'
}
