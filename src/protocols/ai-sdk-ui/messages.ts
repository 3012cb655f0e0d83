/**
 * The messages of a page, as the AI SDK sends them (`UIMessage`). Parts that are not known are left out, and empty files: the page
 * would send them again with each message.
 *
 * @module
 */

import * as v from 'valibot'
import type { ContentPart, HistoryMessage, RunInput } from '../../agents/contract.ts'
import type { HistoryToolCall } from '../../agents/run-types.ts'
import { ServableError } from '../../base/errors.ts'
import { isObject, list, validate } from '../../base/validation.ts'
import { idText } from '../encoders/conversation.ts'
import { partsOfFile } from '../encoders/parts.ts'

/** Messages of a chat, and parts of one message. */
const MAX_MESSAGES = 10_000
const MAX_PARTS = 10_000

/** A part of a message: what is known of it depends on its type. */
export type UiPart = Readonly<Record<string, unknown>>

/** A message of a page. */
export interface UiMessage {
  readonly id: string
  readonly role: 'system' | 'user' | 'assistant'
  readonly metadata?: unknown
  readonly parts: readonly UiPart[]
}

/** What a page asks. */
export interface ChatBody {
  /** Of the chat. */
  readonly id: string
  readonly trigger?: string | undefined
  /** The message that is edited, answered again or gone on with. */
  readonly messageId?: string | undefined
  readonly messages: readonly UiMessage[]
  readonly clientTools?: unknown
}

const MessageSchema: v.GenericSchema<unknown, UiMessage> = v.object({
  id: idText,
  role: v.picklist(['system', 'user', 'assistant'], 'must be system, user or assistant'),
  metadata: v.optional(v.unknown()),
  parts: list(v.custom<UiPart>(isObject, 'must be an object'), MAX_PARTS),
})

/** The body of a chat. */
export const ChatSchema: v.GenericSchema<unknown, ChatBody> = v.pipe(
  v.custom<object>(isObject, 'must be a JSON object'),
  v.object({
    id: idText,
    trigger: v.optional(v.string('must be text')),
    messageId: v.optional(idText),
    messages: v.pipe(list(MessageSchema, MAX_MESSAGES), v.nonEmpty('must have at least one message')),
    clientTools: v.optional(v.unknown()),
  }),
)

/** Checks a body. Throws `invalid_body` that names what is wrong. */
export function parseChat(value: unknown): ChatBody {
  return validate(ChatSchema, value, 'invalid_body', 'body')
}

/** What the user says. */
export function inputOf({ parts }: UiMessage): RunInput {
  const said = parts.flatMap(contentOf)
  const [first] = said
  return said.length === 1 && first?.type === 'text' ? first.text : said
}

/** Earlier messages, oldest first. Of calls those with results are told. */
export function historyOf(messages: readonly UiMessage[]): HistoryMessage[] {
  return messages.flatMap(message => {
    if (message.role === 'assistant') return saidBy(message)
    const { role } = message
    const content = inputOf(message)
    return content.length === 0 ? [] : [{ role, content }]
  })
}

/** An assistant's message, a step at a time: a model is told the results of a step before what it said next. */
function saidBy({ parts }: UiMessage): HistoryMessage[] {
  const told: HistoryMessage[] = []
  let step = new Step()
  for (const part of parts) {
    if (part.type === 'step-start') {
      told.push(...step.messages())
      step = new Step()
    } else step.add(part)
  }
  return [...told, ...step.messages()]
}

/** A step of an assistant's message. */
class Step {
  readonly #content: ContentPart[] = []
  /** By their ids: a step has a call once. */
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
    const said = {
      role: 'assistant' as const,
      ...(content.length > 0 && { content }),
      ...(this.#calls.size > 0 && { toolCalls: [...this.#calls.values()] }),
    }
    return [said, ...this.#results]
  }
}

/** The call that a part is: of a tool that the page knows, or of any other. */
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

/** The base64 of a `data:` URL; any other URL as it is. */
function dataIn(url: string): string {
  const comma = url.indexOf(',')
  return url.startsWith('data:') && url.slice(0, comma).endsWith(';base64') ? url.slice(comma + 1) : url
}

/** The newest message of a chat. */
export function newestOf({ messages }: ChatBody): UiMessage {
  const message = messages.at(-1)
  if (message !== undefined && message.role !== 'system') return message
  throw new ServableError('invalid_body', '`messages`: the last one must be of the user or of the assistant')
}
