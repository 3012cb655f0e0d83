/**
 * Messages in LangGraph's flat form: those that clients send, and those that they get.
 *
 * @module
 */

import type { ClientTool, ContentPart, HistoryMessage, RunInput } from '../../core-entry.ts'
import { inputOf, isAddress, isObject, misfit, partsOfFile, urlOf } from '../encoders/index.ts'

/** A call of a tool in a message. */
export interface CallInMessage {
  readonly name: string
  readonly args: unknown
  readonly id: string
  readonly type: 'tool_call'
}

/** A message of the user. */
export interface HumanMessage {
  readonly type: 'human'
  readonly id: string
  readonly content: string | readonly object[]
}

/** A message of an agent. */
export interface AiMessage {
  readonly type: 'ai'
  readonly id: string
  readonly content: string | readonly object[]
  readonly tool_calls: readonly CallInMessage[]
  readonly name?: string
  readonly usage_metadata?: object
}

/** The result of a tool. */
export interface ToolMessage {
  readonly type: 'tool'
  readonly id: string
  readonly tool_call_id: string
  readonly name: string
  readonly content: string
  readonly status: 'success' | 'error'
}

/** A message as clients get it. */
export type ThreadMessage = HumanMessage | AiMessage | ToolMessage

/** What a thread had before a run, with the message that the run answers. */
export interface Before {
  readonly messages: readonly ThreadMessage[]
  /** How many of these came with the run. */
  readonly own: number
}

/** A message as a client sends it. */
export interface SentMessage {
  readonly role: 'user' | 'assistant' | 'tool' | 'system' | 'remove'
  /** Undefined: the service makes one. */
  readonly id: string | undefined
  readonly content: unknown
  readonly fields: Readonly<Record<string, unknown>>
}

const ROLES: Readonly<Record<string, SentMessage['role']>> = {
  ...{ human: 'user', user: 'user', HumanMessageChunk: 'user' },
  ...{ ai: 'assistant', assistant: 'assistant', AIMessageChunk: 'assistant' },
  ...{ tool: 'tool', system: 'system', developer: 'system', remove: 'remove' },
}

/** Most messages of one request. */
const MAX_MESSAGES = 10_000

/** The messages in the input of a run or in values: a list, one message, or a text. Throws `invalid_body`. */
export function messagesIn(input: unknown, field: string): readonly SentMessage[] {
  if (input === null || input === undefined) return []
  if (typeof input === 'string') return [sentOf(input, field)]
  if (!isObject(input)) throw misfit(field, 'must be an object with `messages`, a text, or null')
  const { messages = [] } = input as { readonly messages?: unknown }
  const path = `${field}.messages`
  const all = Array.isArray(messages) && !isPair(messages) ? messages : [messages]
  if (all.length > MAX_MESSAGES) throw misfit(path, `must have at most ${MAX_MESSAGES} messages`)
  return all.map((each, index) => sentOf(each, `${path}.${index}`))
}

/** Whether a list is one message: its role and its text. */
function isPair(value: readonly unknown[]): boolean {
  return (
    value.length === 2 &&
    value.every(each => typeof each === 'string') &&
    Object.hasOwn(ROLES, String(value[0]))
  )
}

function sentOf(value: unknown, field: string): SentMessage {
  if (typeof value === 'string') return { role: 'user', id: undefined, content: value, fields: {} }
  if (Array.isArray(value)) return sentOf({ role: value[0], content: value[1] }, field)
  if (!isObject(value)) throw misfit(field, 'must be a message')
  const { type, role, id, content } = value
  const named = [type, role].find(each => typeof each === 'string' && Object.hasOwn(ROLES, each))
  const known = ROLES[String(named)]
  if (known === undefined) throw misfit(`${field}.type`, 'must be `human`, `ai`, `tool` or `system`')
  const isId = typeof id === 'string' && id !== ''
  if (isId && id.length > 500) throw misfit(`${field}.id`, 'must have at most 500 characters')
  return { role: known, id: isId ? id : undefined, content, fields: value }
}

/** The content of a user's message as an input. */
export function inputIn(content: unknown): RunInput {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return content === undefined || content === null ? '' : JSON.stringify(content)
  return inputOf(content.flatMap(partsOfBlock))
}

/** The inputs of several messages as one. */
export function joinedInput(inputs: readonly RunInput[]): RunInput {
  const [first = ''] = inputs
  if (inputs.length < 2) return first
  return inputs.flatMap(input =>
    typeof input === 'string' ? [{ type: 'text' as const, text: input }] : input,
  )
}

function partsOfBlock(block: unknown): ContentPart[] {
  if (typeof block === 'string') return [{ type: 'text', text: block }]
  const fields = Object(block) as Readonly<Record<string, unknown>>
  const { type, text, image_url: image, mime_type: mime, mimeType = mime, metadata } = fields
  if (type === 'text' || typeof text === 'string') return [{ type: 'text', text: String(text ?? '') }]
  if (image !== undefined) {
    const { url = image } = Object(image) as { readonly url?: unknown }
    return partsOfFile(dataOf(String(url)), mediaTypeIn(String(url)) ?? 'image/*')
  }
  const data = [fields.data, fields.url].find(each => typeof each === 'string')
  if (typeof data !== 'string') return []
  const { filename, name = filename } = Object(metadata ?? {}) as Readonly<Record<string, unknown>>
  const kind = type === 'image' || type === 'audio' ? `${type}/*` : ''
  const mediaType = typeof mimeType === 'string' ? mimeType : (mediaTypeIn(data) ?? kind)
  return partsOfFile(dataOf(data), mediaType, typeof name === 'string' ? name : undefined)
}

/** The base64 of a `data:` URL; any other text as it is. */
function dataOf(url: string): string {
  const at = url.startsWith('data:') ? url.indexOf(';base64,') : -1
  return at > 0 && at < 200 ? url.slice(at + 8) : url
}

function mediaTypeIn(url: string): string | undefined {
  return /^data:([^;,]{1,100})/.exec(url)?.[1]
}

/** Earlier messages of a client that remembers the conversation itself. */
export function historyOf(messages: readonly SentMessage[]): HistoryMessage[] {
  return messages.flatMap(({ role, content, fields }): HistoryMessage[] => {
    if (role === 'remove') return []
    if (role === 'user' || role === 'system') return [{ role, content: inputIn(content) }]
    if (role === 'tool') {
      return [{ role, toolCallId: String(fields.tool_call_id), result: content ?? '' }]
    }
    const calls = Array.isArray(fields.tool_calls) ? fields.tool_calls : []
    const toolCalls = calls.flatMap(call => {
      const { id, name, args } = Object(call) as Readonly<Record<string, unknown>>
      return typeof id === 'string' ? [{ toolCallId: id, toolName: String(name), args }] : []
    })
    return [{ role, content: inputIn(content), ...(toolCalls.length > 0 && { toolCalls }) }]
  })
}

/** The text of a message's content. */
export function textIn(content: unknown): string {
  const input = inputIn(content)
  if (typeof input === 'string') return input
  return input.map(part => (part.type === 'text' ? part.text : '')).join('')
}

/** The tools of the client in the input of a run, as clients of AG-UI and of OpenAI describe them. */
export function clientToolsIn(input: unknown): readonly ClientTool[] | undefined {
  const { tools } = Object(input) as { readonly tools?: unknown }
  if (!Array.isArray(tools) || tools.length === 0) return undefined
  return tools.map(tool => {
    const { function: inner = tool } = Object(tool) as { readonly function?: unknown }
    const { name, description, parameters } = Object(inner) as ClientTool
    const isSchema = isObject(parameters) && parameters.type === 'object'
    return { name, description, parameters: isSchema ? parameters : undefined }
  })
}

/** A user's message as clients get it. */
export function humanMessage(id: string, input: RunInput): HumanMessage {
  return { type: 'human', id, content: typeof input === 'string' ? input : input.map(blockOf) }
}

function blockOf(part: ContentPart): object {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'data':
      return { type: 'text', text: JSON.stringify(part.data) }
    case 'image':
      return { type: 'image_url', image_url: { url: urlOf(part.data, part.mimeType ?? 'image/*') } }
    default: {
      const { type, data, mimeType } = part
      const source = isAddress(data) ? { source_type: 'url', url: data } : { source_type: 'base64', data }
      const filename = type === 'file' ? part.filename : undefined
      return {
        type,
        ...source,
        mime_type: mimeType,
        ...(filename && { metadata: { filename, name: filename } }),
      }
    }
  }
}
