/**
 * Errors as RFC 9457 problem details.
 *
 * @module
 */

import {
  type ErrorCode,
  type ErrorKind,
  type Issue,
  kindOf,
  MASK,
  redact,
  reportError,
} from '../base/errors.ts'

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

/** The HTTP status of each kind of codes, and its title (RFC 9110, section 15; RFC 6585 for 429). */
const STATUS: Readonly<Record<ErrorKind, readonly [status: number, title: string]>> = {
  invalid: [400, 'Bad Request'],
  unauthenticated: [401, 'Unauthorized'],
  forbidden: [403, 'Forbidden'],
  missing: [404, 'Not Found'],
  badMethod: [405, 'Method Not Allowed'],
  slow: [408, 'Request Timeout'],
  conflict: [409, 'Conflict'],
  tooLarge: [413, 'Content Too Large'],
  badMediaType: [415, 'Unsupported Media Type'],
  refused: [422, 'Unprocessable Content'],
  tooMany: [429, 'Too Many Requests'],
  unavailable: [503, 'Service Unavailable'],
  failed: [500, 'Internal Server Error'],
  failedBehind: [502, 'Bad Gateway'],
  timedOut: [504, 'Gateway Timeout'],
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
  const [status, name] = STATUS[kindOf(code)]
  const { retryAfter } = details ?? {}
  const problem: Problem = {
    ...details,
    type: 'about:blank',
    // In production, the title of status 500 does not describe the failure.
    title: production && status === 500 ? MASK : name,
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
