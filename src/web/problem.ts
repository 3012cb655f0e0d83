/**
 * Errors as RFC 9457 problem details.
 *
 * @module
 */

import { type ErrorCode, type Issue, MASK, redact, reportError } from '../errors.ts'

/** The body of an error response (RFC 9457, section 3), with a stable `code`. `error` repeats the text. */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly error: string
  readonly code: ErrorCode
  readonly requestId: string
  readonly issues?: readonly Issue[]
}

/** The HTTP status of every code. */
const STATUS = {
  invalid_path: 400,
  invalid_body: 400,
  invalid_input: 400,
  invalid_header: 400,
  invalid_query: 400,
  runs_not_stored: 400,
  conflicting_memory: 400,
  key_required: 400,
  unauthorized: 401,
  forbidden: 403,
  insufficient_scope: 403,
  approval_denied: 403,
  cross_site_request: 403,
  not_found: 404,
  agent_not_found: 404,
  team_not_found: 404,
  workflow_not_found: 404,
  run_not_found: 404,
  request_not_found: 404,
  file_not_found: 404,
  session_not_found: 404,
  tool_not_found: 404,
  toolkit_not_found: 404,
  tool_server_not_found: 404,
  webhook_not_found: 404,
  delivery_not_found: 404,
  too_many_webhooks: 409,
  tool_servers_not_configured: 404,
  tool_server_exists: 409,
  too_many_tool_servers: 409,
  caller_key_not_found: 404,
  caller_key_revoked: 409,
  too_many_caller_keys: 409,
  address_refused: 400,
  method_not_allowed: 405,
  upload_too_slow: 408,
  run_ended: 409,
  session_busy: 409,
  session_changed: 409,
  request_changed: 409,
  already_answered: 409,
  approval_expired: 409,
  not_resumable: 409,
  input_not_kept: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  idempotency_mismatch: 422,
  input_refused: 422,
  output_refused: 422,
  too_many_runs: 429,
  budget_exceeded: 429,
  too_many_followers: 429,
  state_full: 429,
  rate_limited: 429,
  parse_error: 400,
  invalid_request: 400,
  method_not_found: 404,
  invalid_params: 400,
  task_not_found: 404,
  task_not_cancelable: 400,
  push_not_supported: 400,
  unsupported_operation: 400,
  content_type_not_supported: 400,
  extended_card_not_configured: 400,
  extension_required: 400,
  version_not_supported: 400,
  invalid_agent_response: 500,
  invalid_options: 500,
  tool_failed: 502,
  tool_server_failed: 502,
  internal_error: 500,
  agent_failed: 500,
  invalid_event: 500,
  guard_failed: 500,
  run_too_large: 500,
  interrupted: 500,
  workflow_changed: 500,
  state_unavailable: 503,
  provider_failed: 502,
  run_timeout: 504,
  step_timeout: 504,
} as const satisfies Readonly<Record<ErrorCode, number>>

/** The titles of these statuses (RFC 9110, section 15; RFC 6585 for 429). */
const TITLES: Readonly<Record<(typeof STATUS)[ErrorCode], string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** The header that asks the client to try again after a second, for 429 and 503 (RFC 9110, section 10.2.3). */
export function retryHeaders(status: number): { 'retry-after'?: string } {
  return status === 429 || status === 503 ? { 'retry-after': '1' } : {}
}

/** The media type of {@link Problem} (RFC 9457, section 6.1). */
export const PROBLEM_TYPE = 'application/problem+json'

/** What an error response needs besides the error. */
export interface ProblemOptions {
  readonly requestId: string
  readonly production: boolean
  /** Provider keys of the request, which are removed from the text. */
  readonly secrets?: readonly string[]
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Answers with the part of `thrown` that a client may see. */
export function problemResponse(
  thrown: unknown,
  { requestId, production, secrets = [], headers }: ProblemOptions,
): Response {
  const report = reportError(thrown, production, 'internal_error')
  const { code, issues, details } = report
  const message = redact(report.message, secrets)
  const status = STATUS[code]
  const { retryAfter } = details ?? {}
  const problem: Problem = {
    ...details,
    type: 'about:blank',
    // In production, the title of status 500 does not describe the failure.
    title: production && status === 500 ? MASK : TITLES[status],
    status,
    detail: message,
    error: message,
    code,
    requestId,
    ...(issues.length > 0 && { issues }),
  }
  return new Response(JSON.stringify(problem), {
    status,
    headers: {
      ...retryHeaders(status),
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
      ...headers,
      'content-type': PROBLEM_TYPE,
    },
  })
}
