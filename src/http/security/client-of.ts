/**
 * Names the client of a request, for limits that clients share.
 *
 * @module
 */

import { sha256 } from '../../web/digest.ts'
import { addressKey } from '../../web/ip-address.ts'

/** The known facts of a client. */
export interface Who {
  /** The id of its identity; null if it has none. A mere claim of a request, such as a `userId`, does not count. */
  readonly owner: string | null
  readonly ip: string | undefined
}

/** The name of all clients with neither an identity nor a known address. */
const NOBODY = 'anonymous'

/** Names the client by its identity, else by its address. Clients with neither share one name. */
export function clientOf({ owner, ip }: Who): string {
  if (owner !== null) return `owner:${owner}`
  return ip === undefined ? NOBODY : `address:${addressKey(ip)}`
}

/** Names a client for a store. */
export type StoredClientOf = (who: Who) => Promise<string>

/** The most addresses whose digests are remembered. A digest takes longer than the rest of a short run's start. */
const MAX_REMEMBERED = 1000

/** Makes the naming for a store, which gets an address only as a digest. */
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
