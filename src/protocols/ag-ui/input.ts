/**
 * The body that clients of AG-UI send: `RunAgentInput`, of 0.x and of 1.0.
 *
 * @module
 */

import * as v from 'valibot'
import { idText, isObject, list, MAX_PARTS, validate } from '../encoders/index.ts'

// The run checks its texts again, more strictly.

/** Most messages, tools, pieces of context and answers of one body. */
const MAX_MESSAGES = 10_000
const MAX_TOOLS = 128
const MAX_CONTEXT = 1000
const MAX_ANSWERS = 100

const text = v.string()

const SourceSchema = v.object({
  type: v.picklist(['data', 'url', 'file']),
  value: text,
  mimeType: v.optional(text),
})

const PartSchema = v.variant('type', [
  v.object({ type: v.literal('text'), text }),
  v.object({
    type: v.picklist(['image', 'audio', 'video', 'document']),
    source: SourceSchema,
    metadata: v.optional(v.unknown()),
  }),
  // Of 0.x.
  v.object({
    type: v.literal('binary'),
    mimeType: text,
    data: v.optional(text),
    url: v.optional(text),
    filename: v.optional(text),
  }),
])

/** A file of a message. Of 0.x it is `binary`. */
export type AgUiFilePart =
  | {
      type: 'image' | 'audio' | 'video' | 'document'
      source: { type: 'data' | 'url' | 'file'; value: string; mimeType?: string | undefined }
      metadata?: unknown
    }
  | {
      type: 'binary'
      mimeType: string
      data?: string | undefined
      url?: string | undefined
      filename?: string | undefined
    }

/** The content of a message of a user or a tool. */
export type AgUiContent = string | ({ type: 'text'; text: string } | AgUiFilePart)[]

const content: v.GenericSchema<unknown, AgUiContent> = v.union(
  [text, list(PartSchema, MAX_PARTS)],
  'must be text or an array of parts',
)

/** A call of a tool. */
export interface AgUiToolCall {
  id: string
  function: { name: string; arguments: string }
}

/** The result of a tool. */
export interface ToolMessage {
  role: 'tool'
  id: string
  toolCallId: string
  content: AgUiContent
  error?: string | null | undefined
}

/** A message of a conversation. The content of reasoning is not read. */
export type AgUiMessage =
  | { role: 'user'; id: string; content: AgUiContent }
  | {
      role: 'assistant'
      id: string
      content?: string | null | undefined
      toolCalls?: AgUiToolCall[] | undefined
    }
  | ToolMessage
  | { role: 'system' | 'developer'; id: string; content: string }
  | { role: 'reasoning' | 'activity'; id: string }

const CallSchema = v.object({ id: text, function: v.object({ name: text, arguments: text }) })

const id = idText

const MessageSchema: v.GenericSchema<unknown, AgUiMessage> = v.variant('role', [
  v.object({ role: v.literal('user'), id, content }),
  v.object({
    role: v.literal('assistant'),
    id,
    content: v.nullish(text),
    toolCalls: v.optional(list(CallSchema, MAX_PARTS)),
  }),
  v.object({ role: v.literal('tool'), id, toolCallId: text, content, error: v.nullish(text) }),
  v.object({ role: v.picklist(['system', 'developer']), id, content: text }),
  v.object({ role: v.picklist(['reasoning', 'activity']), id }),
])

const ToolSchema = v.object({
  name: text,
  description: v.optional(text),
  parameters: v.optional(v.unknown()),
})

/** An answer to an interrupt. */
export interface ResumeEntry {
  interruptId: string
  status: 'resolved' | 'cancelled'
  payload?: unknown
}

const ResumeSchema = v.object({
  interruptId: text,
  status: v.picklist(['resolved', 'cancelled']),
  payload: v.optional(v.unknown()),
})

/** A body. */
export interface RunAgentInput {
  threadId: string
  runId: string
  /** Clients of 0.x send none. */
  protocolVersion?: string | undefined
  messages: AgUiMessage[]
  tools: { name: string; description?: string | undefined; parameters?: unknown }[]
  context: { description: string; value: string }[]
  state?: unknown
  forwardedProps?: unknown
  resume: ResumeEntry[]
}

/** The schema of a body. Fields that it does not know are ignored. */
export const RunAgentInputSchema: v.GenericSchema<unknown, RunAgentInput> = v.pipe(
  v.custom<object>(isObject, 'must be a JSON object'),
  v.object({
    threadId: idText,
    runId: idText,
    protocolVersion: v.optional(text),
    messages: list(MessageSchema, MAX_MESSAGES),
    tools: v.optional(list(ToolSchema, MAX_TOOLS), []),
    context: v.optional(list(v.object({ description: text, value: text }), MAX_CONTEXT), []),
    state: v.optional(v.unknown()),
    forwardedProps: v.optional(v.unknown()),
    resume: v.optional(list(ResumeSchema, MAX_ANSWERS), []),
  }),
)

/** Checks a body; throws `invalid_body` that names every wrong field. */
export function parseInput(value: unknown): RunAgentInput {
  return validate(RunAgentInputSchema, value, 'invalid_body', 'body')
}
