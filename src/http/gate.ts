/**
 * Decides who may use routes that are not for everyone: those of administrators, and the console. It runs before any other work,
 * and refuses in case of doubt.
 *
 * @module
 */

import { ServableError } from '../errors.ts'
import { LOOPBACK_ADDRESS, LOOPBACK_NAME } from '../web/ip-address.ts'
import { isResponse } from '../web/response.ts'
import { identifyBy } from './authentication.ts'
import { type Context, type Middleware, peerOf } from './context.ts'
import { isCrossSite } from './cross-site.ts'
import type { Identity } from './platform.ts'

/** Says who may pass. An identity may. A response is sent as it is. Undefined or a throw refuses. */
export type Authenticate = (
  request: Request,
) => Identity | Response | undefined | Promise<Identity | Response | undefined>

/**
 * Lets in whom `authenticate` finds, as `context.identity`. Without it, lets in requests of this machine alone, and tells others
 * `refusal`.
 */
export function gate(authenticate: Authenticate | undefined, refusal: string): Middleware {
  return async (request, context, next) => {
    if (authenticate === undefined) checkOwnMachine(request, context, refusal)
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
function checkOwnMachine(request: Request, context: Context, refusal: string): void {
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
  if (!isHere || isPassedOn || isCrossSite(request, undefined)) throw new ServableError('forbidden', refusal)
}
