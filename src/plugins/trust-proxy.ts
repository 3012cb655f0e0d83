import * as v from 'valibot'
import { asPlugin } from '../core/built-in.ts'
import type { Plugin } from '../core/plugin.ts'
import { checkOptions } from '../schemas.ts'
import { createAddressReader, isTrustProxy, TRUST_PROXY, type TrustProxy } from '../web/client-address.ts'

/**
 * Says which information about the client's address to trust. Without it none is trusted, so that behind a proxy all clients
 * have the proxy's address. The address counts for rate limits of requests and sockets, for the places that clients without
 * an identity share (uploads, runs, tasks, push notifications), for `context.ip` and for the log. Throws `invalid_options`.
 *
 * @example
 * createHandler({ agents, plugins: [trustProxy(1), rateLimit()] })
 */
export function trustProxy(trust: TrustProxy): Plugin {
  checkOptions('trustProxy', v.custom(isTrustProxy, TRUST_PROXY), trust)
  return asPlugin({ name: 'trustProxy', addressOf: onError => createAddressReader(trust, onError) })
}
