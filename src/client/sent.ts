/**
 * What the caller gives, as it is sent. Throws `invalid_options` for what cannot be.
 *
 * @module
 */

import { ServableClientError } from './error.ts'
import type { HeaderSource } from './options.ts'

/** What `make` gives. Why it fails is not told: the text could hold a key. */
export function attempt<T>(message: string, make: () => T): T {
  try {
    return make()
  } catch {
    throw new ServableClientError('invalid_options', message)
  }
}

/** A part of a path. `.` and `..` would lead elsewhere, and so would nothing: they fail as half a character does. */
export function segment(text: string): string {
  const part = /^\.{0,2}$/.test(text) ? '\ud800' : text
  return attempt(`\`${text}\` cannot be sent`, () => encodeURIComponent(part))
}

/** A query as it stands in an address. */
export function queryOf(query: object = {}): string {
  // JSON has no members that are undefined.
  return `?${new URLSearchParams(JSON.parse(JSON.stringify(query)))}`
}

/** Sets headers. */
export function setAll(fields: Headers, source: HeaderSource = {}): void {
  for (const [name, value] of Symbol.iterator in source ? source : Object.entries(source)) {
    if (value !== undefined) attempt(`\`${name}\` cannot be sent`, () => fields.set(name, value))
  }
}
