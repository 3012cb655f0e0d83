import type { ContentPart, HistoryMessage, RunInput } from '../../../agents/contract.ts'
import { assistantText, namesIn, resultText, turnsOf } from '../history.ts'
import { dataOf, isUrl, type MediaPart, mediaTypeOf, urlOf } from '../media.ts'

/** A user message for LangChain. */
export interface LangChainMessage {
  readonly role: 'user'
  readonly content: string | readonly object[]
}

/** The input of a run as one user message. */
export function toLangChainMessage(input: RunInput): LangChainMessage {
  return { role: 'user', content: typeof input === 'string' ? input : input.map(toBlock) }
}

/** A client's history as LangChain messages. */
export function toLangChainMessages(history: readonly HistoryMessage[] | undefined): readonly object[] {
  const turns = turnsOf(history) ?? []
  const names = namesIn(turns)
  return turns.map(message => {
    if (message.role === 'user') return toLangChainMessage(message.content)
    if (message.role === 'tool') {
      const { toolCallId, result } = message
      return {
        role: 'tool',
        tool_call_id: toolCallId,
        name: names.get(toolCallId),
        content: resultText(result),
      }
    }
    const calls = (message.toolCalls ?? []).map(({ toolCallId, toolName, args = {} }) => ({
      type: 'tool_call',
      id: toolCallId,
      name: toolName,
      args,
    }))
    return { role: 'assistant', content: assistantText(message), tool_calls: calls }
  })
}

function toBlock(part: ContentPart): object {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'data':
      return { type: 'text', text: JSON.stringify(part.data) }
    case 'image':
      return { type: 'image_url', image_url: { url: urlOf(part) } }
    case 'audio':
    case 'file':
      return { type: part.type, mime_type: mediaTypeOf(part), ...sourceOf(part), ...metadataOf(part) }
  }
}

function sourceOf(part: MediaPart): object {
  const isAddress = isUrl(part.data) && !part.data.startsWith('data:')
  return isAddress ? { source_type: 'url', url: part.data } : { source_type: 'base64', data: dataOf(part) }
}

function metadataOf(part: MediaPart): object {
  if (part.type !== 'file' || part.filename === undefined) return {}
  return { metadata: { filename: part.filename, name: part.filename } }
}
