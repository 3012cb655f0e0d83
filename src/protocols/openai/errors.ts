/**
 * Errors in OpenAI's form.
 *
 * @module
 */

import type { Problem } from '../../web/problem.ts'
import { errorHeaders, isNoModel } from '../models/retries.ts'

/** An error as OpenAI's clients read it. */
export interface OpenAiError {
  readonly message: string
  readonly type: string
  /** The invalid field. */
  readonly param: string | null
  readonly code: string
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
}

/** The type and code of an error for a budget that is used up. */
const QUOTA = 'insufficient_quota'

/** Makes an error. */
export function errorOf(
  message: string,
  code: string,
  status = 500,
  param: string | null = null,
): OpenAiError {
  // OpenAI has an own code for limits that do not pass soon.
  if (code === 'budget_exceeded') return { message, type: QUOTA, param, code: QUOTA }
  const type = TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error')
  return { message, type, param, code }
}

/** Converts a problem to a response in OpenAI's form. */
export async function toError(problem: Response): Promise<Response> {
  const { status } = problem
  const { code, detail, issues = [] } = (await problem.json()) as Problem
  const isModel = isNoModel(code)
  const rename = (text: string) => text.replace(/\bclientTools\b/, 'tools')
  const param = isModel ? 'model' : rename(issues[0]?.path ?? '') || null
  const named = param === PREVIOUS ? 'previous_response_not_found' : isModel ? 'model_not_found' : code
  const error = errorOf(rename(detail), named, status, param)
  return new Response(JSON.stringify({ error }), { status, headers: errorHeaders(problem, code) })
}

/** The field whose error has a code of its own. */
export const PREVIOUS = 'previous_response_id'
