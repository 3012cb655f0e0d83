/**
 * The client of a request, for places that clients share.
 *
 * @module
 */

import { sha256 } from '../../web/digest.ts'
import { addressKey } from '../../web/ip-address.ts'

/** What is known of a client. */
export interface Who {
  /** The id of its identity; null where it has none. What a request merely claims, such as a `userId`, is none. */
  readonly owner: string | null
  readonly ip: string | undefined
}

/** All who have no identity and whose address nobody knows. */
const NOBODY = 'anonymous'

/** The client by its identity, else by its address; one name for all of whom neither is known. */
export function clientOf({ owner, ip }: Who): string {
  if (owner !== null) return `owner:${owner}`
  return ip === undefined ? NOBODY : `address:${addressKey(ip)}`
}

/** Names a client for a store. */
export type StoredClientOf = (who: Who) => Promise<string>

/** Addresses whose digests are remembered: a digest takes longer than what else there is to do for a short run. */
const MAX_REMEMBERED = 1000

/** Makes the same for a store, which an address enters as a digest only. */
export function createStoredClientOf(): StoredClientOf {
  const digests = new Map<string, string>()
  return async who => {
    const client = clientOf(who)
    if (who.owner !== null || client === NOBODY) return client
    const known = digests.get(client)
    if (known !== undefined) return known
    const digest = `address:${await sha256(client)}`
    digests.set(client, digest)
    const [oldest = ''] = digests.keys()
    if (digests.size > MAX_REMEMBERED) digests.delete(oldest)
    return digest
  }
}
