/**
 * What a page with `useChat` needs beside it: the entry `servable/ai-sdk-ui/page`.
 *
 * @module
 */

import type { UIMessage, UITools } from 'ai'
import type {
  ContentPart,
  FinishReason,
  InputRequest,
  Kind,
  StepEvent,
  Usage,
} from '../../agents/run-types.ts'
import type { NamesOf, Nothing, Served, StructuredOf } from '../../agents/served.ts'
import type { Turn } from '../../agents/turn.ts'

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

/** What is known of an answer as a whole. */
export type ChatMetadata = {
  /** The newest of its runs. */
  readonly runId: string
  readonly finishReason?: FinishReason
  readonly usage?: Usage
  /** What the answer waits for. */
  readonly requests?: readonly InputRequest[]
  /** The code of the error, once the newest run has failed. */
  readonly errorCode?: string
}

/** The parts of an answer with data: `data-step`, `data-artifact`, `data-structured`, and `data-message` for data that it says. */
export type ChatData<Structured = object> = {
  /** A step as it stands. `text` is what it said last. */
  readonly step: Pick<StepEvent, 'name' | 'status' | 'text' | 'durationMs' | 'error'>
  /** What has come of an artifact. Its files are parts `file`. */
  readonly artifact: {
    readonly artifactId: string
    readonly name?: string
    readonly parts: readonly ContentPart[]
  }
  readonly structured: Structured
  readonly message: unknown
}

/** How a chat is asked to stop. */
export interface StopOptions {
  /** Default: the global one. */
  readonly fetch?: typeof fetch
  readonly headers?: NonNullable<RequestInit['headers']>
  readonly signal?: AbortSignal
}

/**
 * Stops the answer of a chat. `stop()` of `useChat` only leaves it, and a service with `resume` goes on with it then. `api` is that of
 * the transport, `id` the chat's. Resolves once it has stopped, also where nothing is at work. Rejects with the service's words.
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
  const words = await response.text()
  if (response.ok || response.headers.get('x-error-code') === 'run_not_found') return
  throw new Error(words || `The service answered ${response.status}`)
}

/** A message of a session: text, files and what is asked. It is one of any `ChatMessage`. */
export type KeptMessage = UIMessage<ChatMetadata, Nothing, Nothing>

/**
 * The turns of a session, newest first, as messages for `useChat`, oldest first. The answer of a run at work is left out:
 * `resume: true` of `useChat` has it told. Calls of tools are left out as well, but for what the newest run waits for: the `requests` of
 * its record.
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

/** A request, as the stream of the answer told it. */
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
  // Version 5 knows no approvals.
  return call as object as Part
}

type Part = KeptMessage['parts'][number]

/** What was said in a turn. */
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

/** A URL, or the address of a file of a run; anything else is base64, which has no hyphen. */
const ADDRESS = /^([a-z][\w+.-]*:|\/.{0,200}runs\/\w{8}-)/i
