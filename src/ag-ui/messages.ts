/**
 * Messages of AG-UI as a conversation of this service.
 *
 * @module
 */

import type { ClientTool, ContentPart, HistoryMessage, RunInput } from '../agents/contract.ts'
import type { Conversation } from '../encoders/conversation.ts'
import { partsOfFile } from '../encoders/parts.ts'
import { ServableError } from '../errors.ts'
import { isObject } from '../validation.ts'
import { parseJson } from '../web/json.ts'
import type { Call, Content, Message, RunAgentInput, ToolMessage } from './input.ts'

/** What a client says: its newest message of a user, and what came before that. Throws `invalid_body` where there is none. */
export function conversationOf({ threadId, messages, tools }: RunAgentInput): Conversation {
  const at = lastUserOf(messages)
  const message = messages[at]
  if (message?.role !== 'user') {
    throw new ServableError('invalid_body', '`messages` must have a message of a user')
  }
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

/** What was said. A call that has no result, and a result of no call, are left out: models refuse them. */
function historyOf(messages: readonly Message[]): HistoryMessage[] {
  const results = new Set(messages.flatMap(each => (each.role === 'tool' ? [each.toolCallId] : [])))
  const open = new Map<string, string>()
  const told = messages.map((message): HistoryMessage | undefined => {
    switch (message.role) {
      case 'user':
        return { role: 'user', content: inputOf(message.content) }
      case 'assistant':
        return answerOf(message.content, callsIn(message, results, open))
      case 'tool':
        return resultOf(message, open)
      default:
        return 'content' in message ? { role: 'system', content: message.content } : undefined
    }
  })
  return told.filter(message => message !== undefined)
}

/** The calls of a message that have a result. */
function callsIn(
  { toolCalls = [] }: { toolCalls?: Call[] | undefined },
  results: Set<string>,
  open: Map<string, string>,
) {
  return toolCalls
    .filter(({ id }) => results.delete(id))
    .map(({ id: toolCallId, function: { name: toolName, arguments: args } }) => {
      open.set(toolCallId, toolName)
      return { toolCallId, toolName, args: parsed(args) }
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

function answerOf(
  content: string | null | undefined,
  toolCalls: ReturnType<typeof callsIn>,
): HistoryMessage | undefined {
  const calls = toolCalls.length > 0 && { toolCalls }
  return content || calls ? { role: 'assistant', ...(content && { content }), ...calls } : undefined
}

function resultOf(
  { toolCallId, content, error }: ToolMessage,
  open: Map<string, string>,
): HistoryMessage | undefined {
  const toolName = open.get(toolCallId)
  return open.delete(toolCallId)
    ? { role: 'tool', toolCallId, toolName, result: error || content }
    : undefined
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
