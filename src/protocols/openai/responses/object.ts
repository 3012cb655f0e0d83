/**
 * Makes the response object, with every field that Open Responses requires.
 *
 * @module
 */

import type { ClientTool } from '../../../core-entry.ts'
import { isObject } from '../../encoders/index.ts'
import type { AnswerOptions } from '../../models/answer-encoder.ts'
import type { Fields } from '../../models/body.ts'
import { idOf } from '../../models/ids.ts'

/** The request of a response. */
export interface ResponseRequest extends AnswerOptions {
  /** The body of the request, without nulls. */
  readonly body: Fields
  readonly clientTools: readonly ClientTool[] | undefined
  /** The id of the response that this one continues. */
  readonly previous: unknown
  readonly isBackground: boolean
  readonly isKept: boolean
}

/** The status of a response. */
export interface ResponseOutcome {
  readonly status: 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled'
  readonly error?: { readonly code: string; readonly message: string }
  readonly incomplete_details?: { readonly reason: string }
  readonly usage?: object
  /** Milliseconds from the beginning of the run to its end. */
  readonly afterMs?: number | undefined
}

/** Makes the object. Fields that this service does not use have OpenAI's defaults. */
export function objectOf(
  asked: ResponseRequest,
  outcome: ResponseOutcome,
  output: readonly object[],
): object {
  const { runId, createdMs, model, body, clientTools = [], previous = null, isBackground, isKept } = asked
  const { afterMs = 0, ...current } = outcome
  const { instructions = null, user = null, safety_identifier = null, prompt_cache_key = null } = body
  const { metadata = {}, tool_choice = 'auto', conversation } = body
  const seconds = (ms: number) => Math.floor(ms / 1000)
  return {
    ...{ id: idOf('resp', runId), object: 'response', created_at: seconds(createdMs) },
    completed_at: current.status === 'completed' ? seconds(createdMs + afterMs) : null,
    ...{ error: null, incomplete_details: null, usage: null, ...current },
    ...{ model, output, previous_response_id: previous, instructions },
    ...(conversation !== undefined && { conversation: { id: idIn(conversation) } }),
    ...{ user, safety_identifier, prompt_cache_key, metadata, tool_choice },
    ...{ store: isKept, background: isBackground, text: { format: formatIn(body) } },
    tools: clientTools.map(({ name, description = null, parameters = null }) => ({
      ...{ type: 'function', name, description, parameters, strict: false },
    })),
    ...{ truncation: 'disabled', service_tier: 'default', parallel_tool_calls: true, reasoning: null },
    ...{ temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0, top_logprobs: 0 },
    ...{ max_output_tokens: null, max_tool_calls: null },
  }
}

/** The id of a conversation, given as text or as an object with an id. */
export function idIn(conversation: unknown): unknown {
  return isObject(conversation) ? conversation.id : conversation
}

/** The format that a request asks for. */
export function formatIn({ text }: Fields): Fields {
  return Object(text).format ?? { type: 'text' }
}
