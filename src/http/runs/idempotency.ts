/**
 * Idempotency keys (the IETF draft "The Idempotency-Key HTTP Header Field").
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import type { IdempotencyKey } from '../../runs/stored/host.ts'
import type { Target } from '../../runs/target.ts'
import { sha256 } from '../../web/digest.ts'

/** The most characters of a key. */
const MAX_KEY_LENGTH = 255

/** The scope of a key: one client, one servable. */
export interface KeyScope {
  /** The owner; null if there is no identity. */
  readonly owner: string | null
  /** The credentials that the client sent, which identify it without an identity. */
  readonly credentials: readonly string[]
  readonly target: Pick<Target, 'kind' | 'name'>
}

/** The key of the header; undefined without one. Throws `invalid_header` for an empty or overlong one. */
export function idempotencyKeyOf(headers: Headers): string | undefined {
  const key = headers.get('idempotency-key')
  if (key === null) return undefined
  if (key !== '' && key.length <= MAX_KEY_LENGTH) return key
  throw new ServableError('invalid_header', `\`Idempotency-Key\` must have 1 to ${MAX_KEY_LENGTH} characters`)
}

/** Digests a key for the store. Neither the key, nor credentials, nor the body can be read from it. */
export async function digestKey(
  key: string,
  { owner, credentials, target }: KeyScope,
  body: unknown,
): Promise<IdempotencyKey> {
  const who = owner === null ? ['anonymous', ...credentials] : ['owner', owner]
  const { apiKey: _, ...rest } = Object(body) as Record<string, unknown>
  const [id, fingerprint] = await Promise.all([
    sha256(JSON.stringify(['POST', target.kind, target.name, key, who])),
    sha256(JSON.stringify(sorted(rest))),
  ])
  return { id, fingerprint }
}

/** Sorts the keys of JSON, so that the same body is the same text. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => [name, sorted(inner)])
}
