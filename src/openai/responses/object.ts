/**
 * The response object, with every field that Open Responses demands.
 *
 * @module
 */

import type { ClientTool } from '../../agents/contract.ts'
import { isObject } from '../../validation.ts'
import type { Fields } from '../body.ts'
import { idOf } from '../ids.ts'

/** What was asked for. */
export interface Asked {
  readonly runId: string
  /** When the run began, in milliseconds since 1970. */
  readonly createdMs: number
  /** What the client sent beside its input and tools. */
  readonly told: Fields
  readonly clientTools?: readonly ClientTool[] | undefined
  /** The id of the response that this one goes on from. */
  readonly previous?: string | undefined
  readonly isBackground: boolean
  readonly isKept: boolean
}

/** How a response stands. */
export interface Outcome {
  readonly status: 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled'
  readonly error?: { readonly code: string; readonly message: string }
  readonly incomplete_details?: { readonly reason: string }
  readonly usage?: object
  /** Milliseconds from the beginning of the run to its end. */
  readonly afterMs?: number | undefined
}

/** What is echoed if it is text, and null otherwise. */
const TEXTS = ['instructions', 'user', 'safety_identifier', 'prompt_cache_key'] as const

/** What is said of what nobody here goes by. */
const UNUSED = {
  ...{ truncation: 'disabled', service_tier: 'default', parallel_tool_calls: true, reasoning: null },
  ...{ temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0, top_logprobs: 0 },
  ...{ max_output_tokens: null, max_tool_calls: null },
}

/** Makes the object. */
export function objectOf(asked: Asked, outcome: Outcome, output: readonly object[]): object {
  const { runId, createdMs, told, clientTools = [], previous = null, isBackground, isKept } = asked
  const { status, error = null, incomplete_details = null, usage = null, afterMs } = outcome
  const { model, text, metadata, tool_choice: choice } = told
  const conversation = conversationOf(told)
  return {
    id: idOf('resp', runId),
    object: 'response',
    created_at: Math.floor(createdMs / 1000),
    completed_at:
      status === 'completed' && afterMs !== undefined ? Math.floor((createdMs + afterMs) / 1000) : null,
    ...{ status, error, incomplete_details, model, output, usage },
    previous_response_id: previous,
    ...(conversation !== undefined && { conversation: { id: conversation } }),
    ...Object.fromEntries(TEXTS.map(name => [name, typeof told[name] === 'string' ? told[name] : null])),
    tools: clientTools.map(toTool),
    tool_choice: choice === 'none' ? choice : 'auto',
    text: { format: formatOf(text) },
    metadata: isObject(metadata) ? metadata : {},
    store: isKept,
    background: isBackground,
    ...UNUSED,
  }
}

/** The id of the conversation that a request names. */
export function conversationOf({ conversation }: Fields): unknown {
  return isObject(conversation) ? conversation.id : (conversation ?? undefined)
}

/** The format that a request asks for. */
export function formatOf(text: unknown): Fields {
  const { format } = Object(text) as Fields
  return isObject(format) ? format : { type: 'text' }
}

function toTool({ name, description, parameters }: ClientTool): object {
  return {
    type: 'function',
    name,
    description: description ?? null,
    parameters: parameters ?? null,
    strict: false,
  }
}
