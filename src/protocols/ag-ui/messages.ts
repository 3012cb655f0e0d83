/**
 * Converts messages of AG-UI to a conversation of this service.
 *
 * @module
 */

import type { ClientTool, ContentPart, HistoryMessage, RunInput } from '../../core-entry.ts'
import {
  answeredOnly,
  type EditedConversation,
  isObject,
  misfit,
  parsed,
  partsOfFile,
} from '../encoders/index.ts'
import type { AgUiContent, AgUiMessage, AgUiToolCall, RunAgentInput } from './input.ts'

/** The newest user message of a client, and the messages before it. Throws `invalid_body` if there is no user message. */
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

/** The position of the newest message of a user, or -1 if there is none. */
export function lastUserOf(messages: readonly AgUiMessage[]): number {
  return messages.findLastIndex(({ role }) => role === 'user')
}

function toClientTool({ name, description, parameters }: RunAgentInput['tools'][number]): ClientTool {
  const isSchema = isObject(parameters) && parameters.type === 'object'
  return { name, description, parameters: isSchema ? parameters : undefined }
}

/** The messages of a client as it sent them, but with the edited arguments of their calls. */
export function editedMessages(body: unknown, edited: ReadonlyMap<string, unknown>): unknown[] {
  const { messages } = body as {
    readonly messages: readonly { readonly toolCalls?: readonly AgUiToolCall[] }[]
  }
  return messages.map(message => {
    if (!message.toolCalls?.some(({ id }) => edited.has(id))) return message
    const toolCalls = message.toolCalls.map(call => {
      if (!edited.has(call.id)) return call
      return { ...call, function: { ...call.function, arguments: JSON.stringify(edited.get(call.id)) } }
    })
    return { ...message, toolCalls }
  })
}

/** The earlier messages, without those that models refuse. */
function historyOf(messages: readonly AgUiMessage[]): HistoryMessage[] {
  return answeredOnly(messages.flatMap(toHistory))
}

function toHistory(message: AgUiMessage): HistoryMessage | [] {
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

function toCall({ id: toolCallId, function: { name: toolName, arguments: args } }: AgUiToolCall) {
  return { toolCallId, toolName, args: parsed(args) }
}

/**
 * The content of a user message. Empty files are left out, and files that are handles of a provider, which cannot be read here.
 */
function inputOf(content: AgUiContent): RunInput {
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
