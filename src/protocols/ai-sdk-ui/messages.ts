/**
 * The messages of a page, as the AI SDK sends them (`UIMessage`). Unknown parts and empty files are left out without an error,
 * because the page sends them again with each message.
 *
 * @module
 */

import * as v from 'valibot'
import {
  type ContentPart,
  type HistoryMessage,
  type HistoryToolCall,
  type RunInput,
  ServableError,
} from '../../core-entry.ts'
import { idText, isObject, list, partsOfFile, validate } from '../encoders/index.ts'

/** Most messages of a chat, and most parts of one message. */
const MAX_MESSAGES = 10_000
const MAX_PARTS = 10_000

/** A part of a message. Its members depend on its type. */
export type UiPart = Readonly<Record<string, unknown>>

/** A message of a page. */
export interface UiMessage {
  readonly id: string
  readonly role: 'system' | 'user' | 'assistant'
  readonly metadata?: unknown
  readonly parts: readonly UiPart[]
}

/** The body of a page's request. */
export interface UiChatBody {
  /** The id of the chat. */
  readonly id: string
  readonly trigger?: string | undefined
  /** The message that is edited, answered again or continued. */
  readonly messageId?: string | undefined
  readonly messages: readonly UiMessage[]
  readonly clientTools?: unknown
  /** What happens to the message while a run of the chat is at work. */
  readonly concurrency?: 'queue' | 'steer' | undefined
}

const MessageSchema: v.GenericSchema<unknown, UiMessage> = v.object({
  id: idText,
  role: v.picklist(['system', 'user', 'assistant'], 'must be system, user or assistant'),
  metadata: v.optional(v.unknown()),
  parts: list(v.custom<UiPart>(isObject, 'must be an object'), MAX_PARTS),
})

/** The schema of the body. */
export const ChatSchema: v.GenericSchema<unknown, UiChatBody> = v.pipe(
  v.custom<object>(isObject, 'must be a JSON object'),
  v.object({
    id: idText,
    trigger: v.optional(v.string('must be text')),
    messageId: v.optional(idText),
    messages: v.pipe(list(MessageSchema, MAX_MESSAGES), v.nonEmpty('must have at least one message')),
    clientTools: v.optional(v.unknown()),
    concurrency: v.optional(v.picklist(['queue', 'steer'], "must be 'queue' or 'steer'")),
  }),
)

/** Checks a body. Throws `invalid_body` that names what is wrong. */
export function parseChat(value: unknown): UiChatBody {
  return validate(ChatSchema, value, 'invalid_body', 'body')
}

/** The content of a user message. */
export function inputOf({ parts }: UiMessage): RunInput {
  const content = parts.flatMap(contentOf)
  const [first] = content
  return content.length === 1 && first?.type === 'text' ? first.text : content
}

/** Earlier messages, oldest first. Calls without results are left out. */
export function historyOf(messages: readonly UiMessage[]): HistoryMessage[] {
  return messages.flatMap(message => {
    if (message.role === 'assistant') return assistantHistory(message)
    const { role } = message
    const content = inputOf(message)
    return content.length === 0 ? [] : [{ role, content }]
  })
}

/** An assistant's message as several, one for each step. The results of a step come before the content of the next one. */
function assistantHistory({ parts }: UiMessage): HistoryMessage[] {
  const history: HistoryMessage[] = []
  let step = new MessageStep()
  for (const part of parts) {
    if (part.type === 'step-start') {
      history.push(...step.messages())
      step = new MessageStep()
    } else step.add(part)
  }
  return [...history, ...step.messages()]
}

/** A step of an assistant's message. */
class MessageStep {
  readonly #content: ContentPart[] = []
  /** By their ids. A step has each call once. */
  readonly #calls = new Map<string, HistoryToolCall>()
  readonly #results: HistoryMessage[] = []

  add(part: UiPart): void {
    const call = callOf(part)
    if (call === undefined) this.#content.push(...contentOf(part))
    else if (part.state === 'output-available' || part.state === 'output-error') {
      const { toolCallId, toolName } = call
      if (this.#calls.has(toolCallId)) return
      const result = part.state === 'output-error' ? { error: part.errorText } : (part.output ?? null)
      this.#calls.set(toolCallId, call)
      this.#results.push({ role: 'tool', toolCallId, toolName, result })
    }
  }

  messages(): HistoryMessage[] {
    const content = this.#content
    if (content.length === 0 && this.#calls.size === 0) return []
    const message = {
      role: 'assistant' as const,
      ...(content.length > 0 && { content }),
      ...(this.#calls.size > 0 && { toolCalls: [...this.#calls.values()] }),
    }
    return [message, ...this.#results]
  }
}

/** The call in a part, of a tool that the page knows or of any other. Undefined if the part is no call. */
export function callOf(part: UiPart): HistoryToolCall | undefined {
  const { type, toolCallId, input } = part
  if (typeof type !== 'string' || typeof toolCallId !== 'string' || toolCallId === '') return undefined
  const toolName = type === 'dynamic-tool' ? part.toolName : /^tool-(.+)$/s.exec(type)?.[1]
  return typeof toolName === 'string' && toolName !== ''
    ? { toolCallId, toolName, ...(input !== undefined && { args: input }) }
    : undefined
}

function contentOf(part: UiPart): ContentPart[] {
  const { type, text, url, mediaType, filename } = part
  if (type === 'text' && typeof text === 'string') return text === '' ? [] : [{ type, text }]
  if (type !== 'file' || typeof url !== 'string' || typeof mediaType !== 'string') return []
  const name = typeof filename === 'string' ? filename : undefined
  return partsOfFile(dataIn(url), mediaType, name)
}

/** The base64 of a `data:` URL. Any other URL is returned as it is. */
function dataIn(url: string): string {
  const comma = url.indexOf(',')
  return url.startsWith('data:') && url.slice(0, comma).endsWith(';base64') ? url.slice(comma + 1) : url
}

/** The newest message of a chat. */
export function newestOf({ messages }: UiChatBody): UiMessage {
  const message = messages.at(-1)
  if (message !== undefined && message.role !== 'system') return message
  throw new ServableError('invalid_body', '`messages`: the last one must be of the user or of the assistant')
}
