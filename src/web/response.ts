/** Small changes to a response that another made. */

import { ServableError } from '../errors.ts'
import { discard } from './reply.ts'

/** Whether other code's value is a response, of whatever realm. */
export function isResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]'
}

/** Throws `internal_error`, naming `from`, unless the value is a response: other code made it. */
export function checkResponse(value: unknown, from: string): Response {
  // `Response.error()` has the status 0 and cannot be sent.
  if (isResponse(value) && value.status !== 0) return value
  throw new ServableError('internal_error', `${from} must return a Response`)
}

/** Changes the headers of a response; of a copy where they cannot be changed, as after `fetch` or `redirect`. */
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

/** The same response without its body, as `HEAD` wants it (RFC 9110, section 9.3.2). */
export function withoutBody(response: Response): Response {
  if (response.body === null) return response
  discard(response)
  const { status, statusText, headers } = response
  return new Response(null, { status, statusText, headers })
}
