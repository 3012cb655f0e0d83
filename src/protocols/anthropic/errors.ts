/**
 * Errors in Anthropic's form.
 *
 * @module
 */

import type { Problem } from '../../web/problem.ts'
import { errorHeaders } from '../models/retries.ts'

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

/** Makes the body of an error. `error_code` is servable's, which tells more than the type. */
export function errorOf(
  message: string,
  { status, code, requestId, more }: ErrorFacts,
): { readonly type: 'error'; readonly error: object; readonly request_id: string } {
  const type = TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  const error = { type, message, details: { error_code: code, ...more } }
  return { type: 'error', error, request_id: requestId }
}

/** What an error says beside its text. */
export interface ErrorFacts {
  readonly status: number
  readonly code: string
  readonly requestId: string
  /** Further members of its details. */
  readonly more?: object | undefined
}

/** The details of an error about threads. */
interface ThreadDetails extends Readonly<Record<string, unknown>> {
  readonly thread: { readonly error_code: string; readonly unsupported: readonly string[] }
}

/** The details by which a client knows that it has to send the whole conversation, and does so. */
export const NO_THREADS: ThreadDetails = {
  thread: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
}

/** Converts a problem to a response in Anthropic's form. */
export async function toError(problem: Response): Promise<Response> {
  const { status } = problem
  const { code, detail, requestId, thread } = (await problem.json()) as Problem & Partial<ThreadDetails>
  const headers = errorHeaders(problem, code)
  headers.set('request-id', requestId)
  const message = detail.replace(/\bclientTools\b/, 'tools')
  return new Response(JSON.stringify(errorOf(message, { status, code, requestId, more: thread })), {
    status,
    headers,
  })
}
