/**
 * The input of a run, as clients send it.
 *
 * @module
 */

import * as v from 'valibot'
import type { ClientTool, ContentPart, HistoryMessage, RunInput } from '../agents/contract.ts'
import { isObject, list, misfit, validate } from '../base/validation.ts'
import type { RunWebhook } from './stored/record.ts'

const data = v.pipe(v.string(), v.nonEmpty('must be base64 or a URL, not empty'))
const mimeType = v.pipe(
  v.string(),
  v.regex(/^[\w.+-]+\/[\w.+*-]+$/, 'must be a media type such as image/png'),
)

/** A part of a multi-modal message. */
export const ContentPartSchema: v.GenericSchema<unknown, ContentPart> = v.variant('type', [
  v.object({ type: v.literal('text'), text: v.string() }),
  v.object({ type: v.literal('data'), data: v.unknown() }),
  v.object({ type: v.picklist(['image', 'audio']), data, mimeType: v.optional(mimeType) }),
  v.object({ type: v.literal('file'), data, mimeType, filename: v.optional(v.string()) }),
])

/** The most parts of one message. */
export const MAX_PARTS = 1000

/** The message of a run: text that is not empty, or 1 to 1,000 parts. */
export const RunInputSchema: v.GenericSchema<unknown, RunInput> = v.union(
  [
    v.pipe(v.string(), v.nonEmpty('must not be empty')),
    v.pipe(list(ContentPartSchema, MAX_PARTS), v.nonEmpty('must have at least one part')),
  ],
  'must be text or an array of content parts',
)

/** The most messages of one history. */
const MAX_MESSAGES = 1000

/** The most characters of one history, as JSON. */
const MAX_HISTORY = 1024 * 1024

const content = v.union(
  [v.string(), list(ContentPartSchema, MAX_PARTS)],
  'must be text or an array of content parts',
)

const callFields = {
  toolCallId: v.pipe(v.string(), v.nonEmpty('must not be empty')),
  toolName: v.pipe(v.string(), v.nonEmpty('must not be empty')),
}

const HistoryMessageSchema: v.GenericSchema<unknown, HistoryMessage> = v.variant(
  'role',
  [
    v.object({ role: v.picklist(['system', 'user']), content }),
    v.object({
      role: v.literal('assistant'),
      content: v.optional(content),
      toolCalls: v.optional(list(v.object({ ...callFields, args: v.optional(v.unknown()) }), MAX_PARTS)),
    }),
    v.object({
      role: v.literal('tool'),
      ...callFields,
      toolName: v.optional(callFields.toolName),
      result: v.unknown(),
    }),
  ],
  'must be system, user, assistant or tool',
)

/** Earlier turns. Each tool message answers an earlier call of an assistant that has no result yet. */
const HistorySchema: v.GenericSchema<unknown, HistoryMessage[]> = v.pipe(
  list(HistoryMessageSchema, MAX_MESSAGES),
  v.check(messages => {
    checkAnswers(messages)
    return true
  }),
  shortAsJson(MAX_HISTORY),
)

/** Throws `invalid_body` with the first tool message that answers nothing. A schema's own check could not name the message. */
function checkAnswers(messages: readonly HistoryMessage[]): void {
  const open = new Set<string>()
  for (const [index, message] of messages.entries()) {
    if (message.role === 'assistant') for (const call of message.toolCalls ?? []) open.add(call.toolCallId)
    if (message.role !== 'tool' || open.delete(message.toolCallId)) continue
    throw misfit(
      `history.${index}.toolCallId`,
      'must be a call of an earlier assistant message that has no result yet',
    )
  }
}

/** The most tools of one client. */
const MAX_TOOLS = 128

/** The most characters of all tools of one client, as JSON. */
const MAX_TOOLS_LENGTH = 256 * 1024

const ClientToolSchema: v.GenericSchema<unknown, ClientTool> = v.object({
  name: v.pipe(
    v.string(),
    v.regex(/^(?!__proto__$)[\w-]{1,64}$/, 'must have 1 to 64 characters of A-Z, a-z, 0-9, _ and -'),
  ),
  description: v.optional(v.string()),
  parameters: v.optional(
    v.custom<object>(
      value => isObject(value) && value.type === 'object',
      "must be a JSON Schema with the type 'object'",
    ),
  ),
})

const ClientToolsSchema: v.GenericSchema<unknown, ClientTool[]> = v.pipe(
  list(ClientToolSchema, MAX_TOOLS),
  v.check(
    tools => new Set(tools.map(({ name }) => name)).size === tools.length,
    'must have names that differ',
  ),
  shortAsJson(MAX_TOOLS_LENGTH),
)

function shortAsJson<T>(max: number): v.CheckAction<T, string> {
  return v.check(value => JSON.stringify(value).length <= max, `must have at most ${max} characters as JSON`)
}

/** The client's part of a conversation: its earlier messages and its tools. */
export interface Conversation {
  readonly history?: readonly HistoryMessage[] | undefined
  readonly clientTools?: readonly ClientTool[] | undefined
  /** `'client'` if only the client remembers the conversation. */
  readonly memory?: 'client' | undefined
}

type Maybe<T> = v.OptionalSchema<v.GenericSchema<unknown, T>, undefined>

type ConversationFields = {
  readonly history: Maybe<HistoryMessage[]>
  readonly clientTools: Maybe<ClientTool[]>
  readonly memory: Maybe<'client'>
}

const conversationFields: ConversationFields = {
  history: v.optional(HistorySchema),
  clientTools: v.optional(ClientToolsSchema),
  memory: v.optional(v.literal('client', "must be 'client' or left out")),
}

type MaybeText = v.OptionalSchema<v.GenericSchema<string>, undefined>

/** Optional text, such as an id or a key: 1 to 500 characters. */
export const shortText = (what: string): MaybeText =>
  v.optional(
    v.pipe(
      v.string(),
      v.nonEmpty(`must not be empty: leave \`${what}\` out`),
      v.maxLength(500, 'must have at most 500 characters'),
    ),
  )

/** A checked run body. */
export interface RunBody extends Conversation {
  input: RunInput
  sessionId?: string | undefined
  /** The client's own id of its message. */
  messageId?: string | undefined
  /** The client's id of an earlier message, in whose place this one comes on a branch of its own. */
  replaces?: string | undefined
  /** The id of the run after whose turn this one comes. */
  branchFrom?: string | undefined
  /** The id of the run whose turn must be the last one. */
  ifHead?: string | undefined
  userId?: string | undefined
  apiKey?: string | undefined
  /** What happens to the message while a run of its session is at work. */
  concurrency?: 'queue' | 'steer' | undefined
  /** Whether the run outlives its client. */
  background?: boolean | undefined
  /** The webhook that gets the end of a background run, beside subscribers. */
  webhook?: RunWebhook | undefined
}

/** The fields of a run's body, for other bodies that start runs. */
export const runBodyFields: ConversationFields & {
  readonly input: v.GenericSchema<unknown, RunInput>
  readonly sessionId: MaybeText
  readonly messageId: MaybeText
  readonly replaces: MaybeText
  readonly branchFrom: MaybeText
  readonly ifHead: MaybeText
  readonly userId: MaybeText
  readonly apiKey: MaybeText
  readonly background: v.OptionalSchema<v.GenericSchema<boolean>, undefined>
  readonly webhook: Maybe<RunWebhook>
  readonly concurrency: Maybe<'queue' | 'steer'>
} = {
  input: RunInputSchema,
  sessionId: shortText('sessionId'),
  messageId: shortText('messageId'),
  replaces: shortText('replaces'),
  branchFrom: shortText('branchFrom'),
  ifHead: shortText('ifHead'),
  userId: shortText('userId'),
  apiKey: shortText('apiKey'),
  background: v.optional(v.boolean('must be true or false')),
  webhook: v.optional(v.object({ url: v.string() })),
  concurrency: v.optional(v.picklist(['queue', 'steer'], "must be 'queue' or 'steer'")),
  ...conversationFields,
}

/** The body of a run request. Unknown fields are ignored. */
export const RunBodySchema: v.GenericSchema<unknown, RunBody> = v.pipe(
  v.custom<object>(isObject, 'must be a JSON object'),
  v.object(runBodyFields),
)

/** Checks the body of a run request. Throws `invalid_body` with every wrong field. */
export function parseRunBody(value: unknown): RunBody {
  return validate(RunBodySchema, value, 'invalid_body', 'body')
}

/** The key under which a conversation says that it was checked. A copy of the object says so too. */
const CHECKED: unique symbol = Symbol('checked')

const ConversationSchema: v.GenericSchema<unknown, Conversation> = v.object(conversationFields)

/** Checks a plugin's conversation as a body is checked. Throws `invalid_body`. */
export function parseConversation(value: unknown): Conversation {
  const conversation = validate(ConversationSchema, value, 'invalid_body', 'run')
  const { history, clientTools, memory } = conversation
  return { ...conversation, [CHECKED]: { history, clientTools, memory } } as Conversation
}

/** Whether these members of a conversation are those that {@link parseConversation} returned. */
export function isChecked({
  history,
  clientTools,
  memory,
  [CHECKED]: checked,
}: Conversation & {
  readonly [CHECKED]?: Conversation
}): boolean {
  return checked?.history === history && checked?.clientTools === clientTools && checked?.memory === memory
}
