/**
 * Messages of AG-UI as a conversation of this service.
 *
 * @module
 */

import type { ClientTool, ContentPart, HistoryMessage, RunInput } from '../../agents/contract.ts'
import { isObject, misfit } from '../../base/validation.ts'
import type { EditedConversation } from '../encoders/edits.ts'
import { answeredOnly, parsed } from '../encoders/history.ts'
import { partsOfFile } from '../encoders/parts.ts'
import type { Call, Content, Message, RunAgentInput } from './input.ts'

/** What a client says: its newest message of a user, and what came before that. Throws `invalid_body` where there is none. */
export function conversationOf({ threadId, messages, tools }: RunAgentInput): EditedConversation {
  const at = lastUserOf(messages)
  const message = messages[at]
  if (message?.role !== 'user') throw misfit('messages', 'must have a user message')
  return {
    thread: threadId,
    input: inputOf(message.content),
    messageId: message.id,
    history: () => historyOf(messages.slice(0, at)),
    ...(tools.length > 0 && { clientTools: tools.map(toClientTool) }),
    replaces: 'may',
  }
}

/** The place of the newest message of a user; -1 where there is none. */
export function lastUserOf(messages: readonly Message[]): number {
  return messages.findLastIndex(({ role }) => role === 'user')
}

function toClientTool({ name, description, parameters }: RunAgentInput['tools'][number]): ClientTool {
  const isSchema = isObject(parameters) && parameters.type === 'object'
  return { name, description, parameters: isSchema ? parameters : undefined }
}

/** The messages of a client as it sent them, whose calls have the arguments with which they run. */
export function editedMessages(body: unknown, edited: ReadonlyMap<string, unknown>): unknown[] {
  const { messages } = body as { readonly messages: readonly { readonly toolCalls?: readonly Call[] }[] }
  return messages.map(message => {
    if (!message.toolCalls?.some(({ id }) => edited.has(id))) return message
    const toolCalls = message.toolCalls.map(call => {
      if (!edited.has(call.id)) return call
      return { ...call, function: { ...call.function, arguments: JSON.stringify(edited.get(call.id)) } }
    })
    return { ...message, toolCalls }
  })
}

/** What was said, but for what models refuse. */
function historyOf(messages: readonly Message[]): HistoryMessage[] {
  return answeredOnly(messages.flatMap(toHistory))
}

function toHistory(message: Message): HistoryMessage | [] {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: inputOf(message.content) }
    case 'assistant':
      return {
        role: 'assistant',
        content: message.content ?? undefined,
        toolCalls: message.toolCalls?.map(toCall),
      }
    case 'tool':
      return { role: 'tool', toolCallId: message.toolCallId, result: message.error || message.content }
    default:
      return 'content' in message ? { role: 'system', content: message.content } : []
  }
}

function toCall({ id: toolCallId, function: { name: toolName, arguments: args } }: Call) {
  return { toolCallId, toolName, args: parsed(args) }
}

/** What a user said. A file that is named by a provider's handle is left out: nobody here can read it. So is an empty one. */
function inputOf(content: Content): RunInput {
  if (typeof content === 'string') return content
  return content.flatMap((part): ContentPart[] => {
    if (part.type === 'text') return [part]
    if (part.type === 'binary') {
      const { data, url, mimeType, filename } = part
      return partsOfFile(data ?? url ?? '', mimeType, filename)
    }
    const { type, source, metadata } = part
    if (source.type === 'file') return []
    const { filename } = Object(metadata) as { readonly filename?: unknown }
    const named = typeof filename === 'string' ? filename : undefined
    return partsOfFile(source.value, source.mimeType ?? (type === 'document' ? '' : `${type}/*`), named)
  })
}
