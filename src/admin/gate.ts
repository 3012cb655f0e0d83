/**
 * Who may use the admin routes. It comes before any work, and where it cannot say yes it says no.
 *
 * @module
 */

import { ServableError } from '../errors.ts'
import { identifyBy } from '../http/authentication.ts'
import { type Context, type Middleware, peerOf } from '../http/context.ts'
import { isCrossSite } from '../http/cross-site.ts'
import { isResponse } from '../web/response.ts'
import type { AuthenticateAdmin } from './options.ts'

/** What a person is told who has set no authentication. */
export const OPEN_WARNING: string =
  '`admin` has no `authenticate`: it answers only requests from this machine, and none from a web page. To let others in, write ' +
  "`admin: { authenticate: bearerIdentity({ tokens: { [env.ADMIN_TOKEN]: 'admin' } }) }`"

/** The guard of the admin routes: lets nobody but administrators through. */
export function adminGate(authenticate: AuthenticateAdmin | undefined): Middleware {
  return async (request, context, next) => {
    if (authenticate === undefined) checkOwnMachine(request, context)
    else {
      // Whoever is refused is told how to ask (RFC 9110, section 15.5.2).
      context.responseHeaders.set('www-authenticate', 'Bearer')
      const answer = await identifyBy(authenticate, request, context)
      if (isResponse(answer)) return answer
      context.responseHeaders.delete('www-authenticate')
      context.identity = answer
    }
    return next()
  }
}

const LOOPBACK_NAME = /^(localhost|[\w.-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/i
const LOOPBACK_ADDRESS = /^(127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3})$/i

/**
 * Throws `forbidden` unless the request comes from this machine, asks for it under a name of its own (another's name may be
 * made to lead here) and is made by no page of another origin.
 */
function checkOwnMachine(request: Request, context: Context): void {
  const { hostname } = new URL(request.url)
  const asked = request.headers.get('host')?.replace(/:\d*$/, '') ?? hostname
  const isHere =
    LOOPBACK_NAME.test(hostname) &&
    LOOPBACK_NAME.test(asked) &&
    [context.ip, peerOf(context)].every(ip => ip === undefined || LOOPBACK_ADDRESS.test(ip))
  // Whoever passes it on for somebody says for whom.
  const isPassedOn = [...request.headers.keys()].some(name =>
    /^(forwarded|x-forwarded-.*|x-real-ip|via)$/.test(name),
  )
  if (!isHere || isPassedOn || isCrossSite(request, undefined))
    throw new ServableError('forbidden', OPEN_WARNING)
}
