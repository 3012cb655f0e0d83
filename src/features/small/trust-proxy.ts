import * as v from 'valibot'
import { checkOptions } from '../../base/schemas.ts'
import { asPlugin } from '../../core/built-in.ts'
import type { Plugin } from '../../core/plugin.ts'
import { createAddressReader, isTrustProxy, TRUST_PROXY, type TrustProxy } from '../../web/client-address.ts'

/**
 * Sets the source of the client's address. Without it no proxy is trusted, so behind one all clients have the proxy's address. It
 * counts for limits by address of requests and sockets, for the slots that clients without an identity share (uploads, runs,
 * tasks, push notifications), for `context.ip` and for the log. Throws `invalid_options`.
 *
 * @example
 * createHandler({ agents, plugins: [trustProxy(1), rateLimit()] })
 */
export function trustProxy(trust: TrustProxy): Plugin {
  checkOptions('trustProxy', v.custom(isTrustProxy, TRUST_PROXY), trust)
  return asPlugin({ name: 'trustProxy', addressOf: onError => createAddressReader(trust, onError) })
}
