/**
 * Errors in OpenAI's form.
 *
 * @module
 */

import { isClientErrorCode } from '../errors.ts'
import type { Problem } from '../web/problem.ts'

/** An error as OpenAI's clients read it. */
export interface OpenAiError {
  readonly message: string
  readonly type: string
  /** The field that is wrong. */
  readonly param: string | null
  readonly code: string
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
}

/** Fields of a run, by the name that a client knows them by. */
const RENAMED: Readonly<Record<string, string>> = { clientTools: 'tools', history: 'messages' }

/** The answer of a problem. */
export async function toError(problem: Response): Promise<Response> {
  const { status } = problem
  const { code, detail, issues } = (await problem.json()) as Problem
  const isModel = /^(agent|team|workflow)_not_found$/.test(code)
  const rename = (text: string) => text.replace(/\b(clientTools|history)\b/g, name => RENAMED[name] ?? name)
  const path = issues?.[0]?.path
  const headers = new Headers(problem.headers)
  // What is over or was wrong is the same again: the SDKs would try 409 and 5xx twice more.
  if (status >= 500 ? status !== 503 : status === 409 && code !== 'session_busy')
    headers.set('x-should-retry', 'false')
  return errorResponse(status, headers, {
    message: rename(detail),
    param: isModel ? 'model' : path ? rename(path) : null,
    code: isModel ? 'model_not_found' : code,
  })
}

/** The answer of an error. */
export function errorResponse(
  status: number,
  headers: Headers,
  { message, param, code }: Omit<OpenAiError, 'type'>,
): Response {
  const type = TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error')
  headers.set('content-type', 'application/json')
  return new Response(JSON.stringify({ error: { message, type, param, code } }), { status, headers })
}

/** The error of a stream that has begun. */
export function errorOfStream(message: string, code: string): OpenAiError {
  const type = isClientErrorCode(code) ? 'invalid_request_error' : 'server_error'
  return { message, type, param: null, code }
}

/** The answer of a run that somebody has cancelled. */
export function cancelled(): Response {
  const headers = new Headers({ 'x-should-retry': 'false' })
  return errorResponse(500, headers, { message: 'The run was cancelled', param: null, code: 'cancelled' })
}
