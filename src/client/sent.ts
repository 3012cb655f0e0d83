/**
 * Prepares the caller's values for sending. Throws `invalid_options` for values that cannot be sent.
 *
 * @module
 */

import { ServableClientError } from './error.ts'
import type { HeaderSource } from './options.ts'

/** The value of `make`. The error does not contain the cause, whose text could hold a key. */
export function attempt<T>(message: string, make: () => T): T {
  try {
    return make()
  } catch {
    throw new ServableClientError('invalid_options', message)
  }
}

/**
 * A segment of a path. An empty one, `.` and `..` would change the path, so they fail in the same way as half a surrogate
 * pair.
 */
export function segment(text: string): string {
  const part = /^\.{0,2}$/.test(text) ? '\ud800' : text
  return attempt(`\`${text}\` cannot be sent`, () => encodeURIComponent(part))
}

/** An object as the query of an address. */
export function queryOf(query: object = {}): string {
  // JSON has no members that are undefined.
  return `?${new URLSearchParams(JSON.parse(JSON.stringify(query)))}`
}

/** The request, about the things of this owner: for callers with a role. */
export function withOwner(request: Request, owner: string): Request {
  const url = new URL(request.url)
  url.searchParams.set('owner', owner)
  return new Request(url, request)
}

/** Sets headers. */
export function setAll(fields: Headers, source: HeaderSource = {}): void {
  for (const [name, value] of Symbol.iterator in source ? source : Object.entries(source)) {
    if (value !== undefined) attempt(`\`${name}\` cannot be sent`, () => fields.set(name, value))
  }
}
