/**
 * Types and functions for a page with `useChat`: the entry `servable/ai-sdk-ui/page`.
 *
 * @module
 */

import type { UIMessage, UITools } from 'ai'
import type {
  ContentPart,
  FinishReason,
  InputRequest,
  Kind,
  NamesOf,
  Nothing,
  Served,
  StepEvent,
  StructuredOf,
  Turn,
  Usage,
} from '../../core-entry.ts'

/**
 * The messages of `useChat` with a servable of a handler. The tools that the page runs may be named last, as `UITools` of `ai`.
 *
 * @example
 * import type { handler } from './service.ts'
 * const chat = useChat<ChatMessage<typeof handler, 'helper'>>({ transport })
 * type OfTeam = ChatMessage<typeof handler, 'desk', 'team'>
 */
export type ChatMessage<
  Handler = { readonly '~served'?: Served },
  Name extends keyof NamesOf<Handler>[`${Of}s`] & string = never,
  Of extends Kind = 'agent',
  Tools extends UITools = UITools,
> = UIMessage<ChatMetadata, ChatData<StructuredOf<Named<NamesOf<Handler>[`${Of}s`], Name>>>, Tools>

/** Without a name: any. */
type Named<All, Name extends keyof All> = [Name] extends [never] ? unknown : All[Name]

/** The metadata of an answer. */
export type ChatMetadata = {
  /** The id of the answer's newest run. */
  readonly runId: string
  readonly finishReason?: FinishReason
  readonly usage?: Usage
  /** The requests that the answer waits for. */
  readonly requests?: readonly InputRequest[]
  /** The code of the error, once the newest run has failed. */
  readonly errorCode?: string
}

/**
 * The parts of an answer with data: `data-step`, `data-artifact`, `data-structured`, `data-steered` for a message that the run took
 * while it was at work, and `data-message` for data parts of messages.
 */
export type ChatData<Structured = object> = {
  /** The current state of a step. `text` is its newest text. */
  readonly step: Pick<StepEvent, 'name' | 'status' | 'text' | 'durationMs' | 'error'>
  /** The artifact so far. Its files are parts `file`. */
  readonly artifact: {
    readonly artifactId: string
    readonly name?: string
    readonly parts: readonly ContentPart[]
  }
  readonly structured: Structured
  readonly steered: { readonly messageId: string; readonly parts: readonly ContentPart[] }
  readonly message: unknown
}

/** Options of the request to stop a chat. */
export interface StopOptions {
  /** Default: the global one. */
  readonly fetch?: typeof fetch
  readonly headers?: NonNullable<RequestInit['headers']>
  readonly signal?: AbortSignal
}

/**
 * Stops the answer of a chat. `stop()` of `useChat` only closes the stream, and a service with `resume` then continues the
 * answer. `api` is that of the transport, `id` the chat's. Resolves once the answer has stopped, or if none is at work. Rejects
 * with the text of the service's error.
 *
 * @example
 * await stopChat('/api/agents/helper/chat', chat.id)
 */
export async function stopChat(
  api: string,
  id: string,
  { fetch: send = fetch, ...options }: StopOptions = {},
): Promise<void> {
  const response = await send(`${api}/${encodeURIComponent(id)}/stop`, { ...options, method: 'POST' })
  const text = await response.text()
  if (response.ok || response.headers.get('x-error-code') === 'run_not_found') return
  throw new Error(text || `The service answered ${response.status}`)
}

/** A message of a session: text, files and requests. It fits any `ChatMessage`. */
export type KeptMessage = UIMessage<ChatMetadata, Nothing, Nothing>

/**
 * Converts the turns of a session, newest first, to messages for `useChat`, oldest first. The answer of a run at work is left
 * out: `resume: true` of `useChat` streams it. Calls of tools are left out too, except the `requests` that the newest run waits
 * for.
 *
 * @example
 * const { turns } = await client.sessions.messages('helper', id)
 * const [newest] = turns
 * const isWaiting = newest?.finishReason === 'input_required'
 * const { requests } = isWaiting ? await client.runs.get(newest.runId) : {}
 * const chat = useChat({ id, messages: messagesOf(turns, requests), resume: true, transport })
 */
export function messagesOf(turns: readonly Turn[], requests: readonly InputRequest[] = []): KeptMessage[] {
  const messages: KeptMessage[] = []
  const answers = new Map<string, KeptMessage>()
  const left = new Set<KeptMessage>()
  for (const turn of turns.toReversed()) {
    const { runId, continuedFrom = runId, text, status, finishReason } = turn
    let answer = answers.get(continuedFrom)
    if (answer === undefined) {
      answer = { id: continuedFrom, role: 'assistant', parts: [] }
      messages.push(askedIn(turn, continuedFrom), answer)
    }
    answers.set(runId, answer)
    answer.metadata = { runId, ...(finishReason && { finishReason }) }
    if (text) answer.parts.push({ type: 'text', text })
    if (status === 'running' || (status !== 'completed' && answer.parts.length === 0)) left.add(answer)
    else left.delete(answer)
  }
  const newest = answers.get(turns[0]?.runId ?? '')
  newest?.parts.push(...requests.map(callOf))
  return messages.filter(message => !left.has(message))
}

/** A request, as the stream of the answer sends it. */
function callOf({ id, kind, toolCallId = id, toolName, args, message, schema }: InputRequest): Part {
  const state = 'input-available'
  const call = {
    approval: {
      ...{ type: 'dynamic-tool', toolName, toolCallId, providerExecuted: true, input: args },
      ...{ state: 'approval-requested', approval: { id } },
    },
    question: { type: 'tool-question', toolCallId: id, state, input: { message, schema } },
    client_tool: { type: `tool-${toolName}`, toolCallId, state, input: args },
  }[kind]
  // Version 5 has no approvals.
  return call as object as Part
}

type Part = KeptMessage['parts'][number]

/** The user message of a turn. */
function askedIn({ input, messageId }: Turn, first: string): KeptMessage {
  const parts = typeof input === 'string' ? [{ type: 'text' as const, text: input }] : input
  return { id: messageId ?? `${first}:user`, role: 'user', parts: parts.flatMap(partOf) }
}

function partOf(part: ContentPart): Part[] {
  if (part.type === 'text') return [{ type: 'text', text: part.text }]
  if (part.type === 'data') return []
  const { type, data, mimeType: mediaType = `${type}/*` } = part
  const url = ADDRESS.test(data) ? data : `data:${mediaType};base64,${data}`
  const filename = type === 'file' && part.filename
  return [{ type: 'file', mediaType, url, ...(filename && { filename }) }]
}

/** Matches a URL, or the address of a run's file. Anything else is base64, which has no hyphen. */
const ADDRESS = /^([a-z][\w+.-]*:|\/.{0,200}runs\/\w{8}-)/i
