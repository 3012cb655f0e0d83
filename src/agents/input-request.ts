/**
 * What a run asks of someone.
 *
 * @module
 */

import type { InputRequest } from './run-types.ts'

/** Adds the digest: SHA-256, in base64url, of what is shown. */
export async function requestOf(request: Omit<InputRequest, 'digest'>): Promise<InputRequest> {
  const { kind, toolName, args, message, schema } = request
  const shown = new TextEncoder().encode(canonical([kind, toolName, args, message, schema]))
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', shown))
  const base64 = btoa(String.fromCharCode(...hash))
  return { ...request, digest: base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '') }
}

/** JSON with the members of each object in one order. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  )
}
