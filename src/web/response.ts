/** Small changes to a response that other code made. */

import { ServableError } from '../base/errors.ts'
import { discard } from './reply.ts'

/** Whether an unknown value is a response, of any realm. */
export function isResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]'
}

/** Checks the value that other code returned. Throws `internal_error`, naming `from`, unless it is a response. */
export function checkResponse(value: unknown, from: string): Response {
  // `Response.error()` has the status 0 and cannot be sent.
  if (isResponse(value) && value.status !== 0) return value
  throw new ServableError('internal_error', `${from} must return a Response`)
}

/** Changes the headers of a response. If they are immutable, as after `fetch` or `redirect`, it changes those of a copy. */
export function withHeaders(response: Response, change: (headers: Headers) => void): Response {
  try {
    change(response.headers)
    return response
  } catch {
    const copy = new Response(response.body, response)
    change(copy.headers)
    return copy
  }
}

/** The same response without its body, for `HEAD` (RFC 9110, section 9.3.2). */
export function withoutBody(response: Response): Response {
  if (response.body === null) return response
  discard(response)
  const { status, statusText, headers } = response
  return new Response(null, { status, statusText, headers })
}
