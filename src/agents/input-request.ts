import { canonicalJson } from '../base/canonical-json.ts'
import type { Answer, InputRequest } from './run-types.ts'

/** Adds the digest of what the request shows: the SHA-256, in base64url, of its facts as canonical JSON. */
export async function requestOf(request: Omit<InputRequest, 'digest'>): Promise<InputRequest> {
  const { kind, toolName, args, message, schema, url } = request
  // Hash what clients receive, which is the value after JSON.
  const shown: unknown = JSON.parse(JSON.stringify({ kind, toolName, args, message, schema, url }))
  const bytes = new TextEncoder().encode(canonicalJson(shown))
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  const digest = btoa(String.fromCharCode(...hash)).replace(/[+/=]/g, sign => URL_SAFE[sign] ?? '')
  return { ...request, digest }
}

/** Base64url (RFC 4648, section 5) uses these characters instead of two of base64's, and no padding. */
const URL_SAFE: Readonly<Record<string, string>> = { '+': '-', '/': '_' }

/** The name of the request of a call, from which its path in the run is made. */
export function requestNameOf({ kind, toolName = '' }: Pick<InputRequest, 'kind' | 'toolName'>): string {
  return `${kind === 'client_tool' ? kind : 'approve'}:${toolName}`
}

/** Whether every request has an answer. */
export function isAnswered(
  waiting: readonly { readonly request: InputRequest }[],
  answers: readonly Answer[] = [],
): boolean {
  return waiting.every(({ request }) => answers.some(({ id }) => id === request.id))
}
