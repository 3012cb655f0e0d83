/**
 * Decides who may use the admin routes. It runs before any other work, and refuses in case of doubt.
 *
 * @module
 */

import { ServableError } from '../errors.ts'
import { identifyBy } from '../http/authentication.ts'
import { type Context, type Middleware, peerOf } from '../http/context.ts'
import { isCrossSite } from '../http/cross-site.ts'
import { LOOPBACK_ADDRESS, LOOPBACK_NAME } from '../web/ip-address.ts'
import { isResponse } from '../web/response.ts'
import type { AuthenticateAdmin } from './options.ts'

/** The warning for deployments without authentication. */
export const OPEN_WARNING: string =
  '`admin` has no `authenticate`: it answers only requests from this machine, and none from a web page. To let others in, write ' +
  "`admin: { authenticate: bearerIdentity({ tokens: { [env.ADMIN_TOKEN]: 'admin' } }) }`"

/** The guard of the admin routes. Only administrators pass it. */
export function adminGate(authenticate: AuthenticateAdmin | undefined): Middleware {
  return async (request, context, next) => {
    if (authenticate === undefined) checkOwnMachine(request, context)
    else {
      // A 401 answer must have a challenge (RFC 9110, section 15.5.2).
      context.responseHeaders.set('www-authenticate', 'Bearer')
      const answer = await identifyBy(authenticate, request, context)
      if (isResponse(answer)) return answer
      context.responseHeaders.delete('www-authenticate')
      context.identity = answer
    }
    return next()
  }
}

/**
 * Throws `forbidden` unless three things hold. The request comes from this machine. Its host name is a loopback name,
 * because another name may be resolved to this machine. No page of another origin sent it.
 */
function checkOwnMachine(request: Request, context: Context): void {
  const { hostname } = new URL(request.url)
  const asked = request.headers.get('host')?.replace(/:\d*$/, '') ?? hostname
  const isHere =
    LOOPBACK_NAME.test(hostname) &&
    LOOPBACK_NAME.test(asked) &&
    [context.ip, peerOf(context)].every(ip => ip === undefined || LOOPBACK_ADDRESS.test(ip))
  // A proxy adds one of these headers.
  const isPassedOn = [...request.headers.keys()].some(name =>
    /^(forwarded|x-forwarded-.*|x-real-ip|via)$/.test(name),
  )
  if (!isHere || isPassedOn || isCrossSite(request, undefined))
    throw new ServableError('forbidden', OPEN_WARNING)
}
