/**
 * Errors as RFC 9457 problem details.
 *
 * @module
 */

import { type ErrorCode, type Issue, MASK, redact, reportError } from '../errors.ts'

/** The body of an error response (RFC 9457, section 3), with a stable `code` and the text once more as `error`. */
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

/** The HTTP status and title of every code (RFC 9110, section 15; 429 of RFC 6585). */
const STATUS: Readonly<Record<ErrorCode, readonly [status: number, title: string]>> = {
  invalid_path: [400, 'Bad Request'],
  invalid_body: [400, 'Bad Request'],
  invalid_input: [400, 'Bad Request'],
  invalid_header: [400, 'Bad Request'],
  invalid_query: [400, 'Bad Request'],
  runs_not_stored: [400, 'Bad Request'],
  unauthorized: [401, 'Unauthorized'],
  forbidden: [403, 'Forbidden'],
  not_found: [404, 'Not Found'],
  agent_not_found: [404, 'Not Found'],
  team_not_found: [404, 'Not Found'],
  workflow_not_found: [404, 'Not Found'],
  run_not_found: [404, 'Not Found'],
  tool_not_found: [404, 'Not Found'],
  toolkit_not_found: [404, 'Not Found'],
  tool_server_not_found: [404, 'Not Found'],
  tool_servers_not_configured: [404, 'Not Found'],
  tool_server_exists: [409, 'Conflict'],
  too_many_tool_servers: [409, 'Conflict'],
  address_refused: [400, 'Bad Request'],
  method_not_allowed: [405, 'Method Not Allowed'],
  run_ended: [409, 'Conflict'],
  body_too_large: [413, 'Content Too Large'],
  unsupported_media_type: [415, 'Unsupported Media Type'],
  idempotency_mismatch: [422, 'Unprocessable Content'],
  too_many_runs: [429, 'Too Many Requests'],
  too_many_followers: [429, 'Too Many Requests'],
  rate_limited: [429, 'Too Many Requests'],
  parse_error: [400, 'Bad Request'],
  invalid_request: [400, 'Bad Request'],
  method_not_found: [404, 'Not Found'],
  invalid_params: [400, 'Bad Request'],
  task_not_found: [404, 'Not Found'],
  task_not_cancelable: [400, 'Bad Request'],
  push_not_supported: [400, 'Bad Request'],
  unsupported_operation: [400, 'Bad Request'],
  content_type_not_supported: [400, 'Bad Request'],
  extended_card_not_configured: [400, 'Bad Request'],
  extension_required: [400, 'Bad Request'],
  version_not_supported: [400, 'Bad Request'],
  invalid_agent_response: [500, 'Internal Server Error'],
  invalid_options: [500, 'Internal Server Error'],
  tool_failed: [502, 'Bad Gateway'],
  tool_server_failed: [502, 'Bad Gateway'],
  internal_error: [500, 'Internal Server Error'],
  agent_failed: [500, 'Internal Server Error'],
  invalid_event: [500, 'Internal Server Error'],
  run_too_large: [500, 'Internal Server Error'],
  interrupted: [500, 'Internal Server Error'],
  provider_failed: [502, 'Bad Gateway'],
  run_timeout: [504, 'Gateway Timeout'],
}

/** Seconds after which what was refused for being too much may be tried again (RFC 9110, section 10.2.3). */
const RETRY_AFTER = '1'

/** What an error response needs beside the error. */
export interface ProblemOptions {
  readonly requestId: string
  readonly production: boolean
  /** Provider keys of the request, which are removed from the text. */
  readonly secrets?: readonly string[]
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Answers with what a client may learn of `thrown`. */
export function problemResponse(
  thrown: unknown,
  { requestId, production, secrets = [], headers }: ProblemOptions,
): Response {
  const report = reportError(thrown, production, 'internal_error')
  const { code, issues } = report
  const message = redact(report.message, secrets)
  const [status, title] = STATUS[code]
  const problem: Problem = {
    type: 'about:blank',
    title: production && status >= 500 ? MASK : title,
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
      ...(status === 429 && { 'retry-after': RETRY_AFTER }),
      ...headers,
      'content-type': 'application/problem+json',
    },
  })
}
