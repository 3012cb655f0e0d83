/**
 * Decides who may use routes that are not for everyone: those of administrators, and the console. It runs before any other work,
 * and refuses in case of doubt.
 *
 * @module
 */

import { ServableError } from '../../base/errors.ts'
import { askedHost } from '../../web/host.ts'
import { LOOPBACK_ADDRESS, LOOPBACK_NAME } from '../../web/ip-address.ts'
import { isResponse } from '../../web/response.ts'
import { type Context, connectionOf, type Middleware, RequestState } from '../context.ts'
import type { Identity } from '../platform.ts'
import { identifyBy } from './authentication.ts'
import { isCrossSite } from './cross-site.ts'
import { openToRole } from './open-to-role.ts'
import type { Right } from './rights.ts'

/** Decides who may pass. An identity passes. A response is sent unchanged. Undefined or a throw refuses. */
export type Authenticate = (
  request: Request,
) => Identity | Response | undefined | Promise<Identity | Response | undefined>

/**
 * Lets in the identities of `authenticate`, as `context.identity`. Without it, lets in only requests from this machine; others
 * get `refusal`.
 */
export function gate(authenticate: Authenticate | undefined, refusal: string): Middleware {
  return gateOf(authenticate, (request, context) => checkOwnMachine(request, context, refusal), false)
}

const OF_ALL_TENANTS = 'These routes are not of one tenant: leave `tenant` out of the identity of an operator'

/**
 * The gate of operators' routes. Identities whose roles have the right pass; others as with {@link gate}. In production it refuses everyone without `authenticate`: on a machine with several users, each
 * of them would be an operator.
 */
export function operatorsGate(
  authenticate: Authenticate | undefined,
  refusal: string,
  production: boolean,
  right: Right,
): Middleware {
  const guard = gateOf(
    authenticate,
    (request, context) => {
      if (!production) return checkOwnMachine(request, context, refusal)
      throw new ServableError('forbidden', `${refusal}. In production nobody is answered without it`)
    },
    true,
  )
  return async (request, context, next) =>
    hasRight(context, right, authenticate !== undefined)
      ? openToRole(await next())
      : guard(request, context, next)
}

/** The identity of everyone on the machine of a development server. */
export const LOCAL: Identity = { id: 'local', scopes: ['admin'], roles: ['admin'] }

/**
 * Whether the middleware has found an identity whose roles have the right, for all tenants: the routes of operators are not those of
 * one. `isGuarded`: the routes have an `authenticate` of their own, which is asked who on this machine is an operator.
 */
export function hasRight(context: Context, right: Right, isGuarded: boolean): boolean {
  if (isGuarded && context.identity === LOCAL) return false
  const { roles, tenant } = context.identity ?? {}
  return context instanceof RequestState && roles !== undefined && tenant === undefined && context.may(right)
}

function gateOf(
  authenticate: Authenticate | undefined,
  check: (request: Request, context: Context) => void,
  isForAll: boolean,
): Middleware {
  return async (request, context, next) => {
    if (authenticate === undefined) check(request, context)
    else {
      // A 401 answer must have a challenge (RFC 9110, section 15.5.2).
      context.responseHeaders.set('www-authenticate', 'Bearer')
      const answer = await identifyBy(authenticate, request, context)
      if (isResponse(answer)) return answer
      if (isForAll && answer.tenant !== undefined) throw new ServableError('forbidden', OF_ALL_TENANTS)
      context.responseHeaders.delete('www-authenticate')
      context.identity = answer
    }
    return next()
  }
}

/** Headers in which proxies name the client, or the requested host. */
const PASSED_ON =
  /^(via|cdn-loop|cf-ray|(x-)?forwarded(-.*)?|x-(original|envoy|arr)-.*|[\w-]+-((client|socket)?ip(v\d)?|addr|address|host|for))$/

/** Throws `forbidden` unless the request is from this machine. */
function checkOwnMachine(request: Request, context: Context, refusal: string): void {
  if (isOwnMachine(request, context)) return
  const { peer, unproven } = connectionOf(context)
  throw new ServableError('forbidden', peer ? refusal : `${refusal}. ${howToKnow(unproven?.header)}`)
}

/**
 * Whether three things hold. The request comes from this machine, which no header can prove. Its host name is a loopback name, because
 * another name may be resolved to this machine. No page of another origin sent it. An unknown address is no proof.
 */
export function isOwnMachine(request: Request, context: Context): boolean {
  const { peer, unproven } = connectionOf(context)
  // An address that `trustProxy` believes counts if it is the runtime's own header, since the runtime has nothing better.
  const addresses = [peer || (unproven?.header && context.ip), context.ip]
  const isHere =
    [new URL(request.url).hostname, askedHost(request).name].every(name => LOOPBACK_NAME.test(name)) &&
    addresses.every(ip => LOOPBACK_ADDRESS.test(ip ?? ''))
  const isPassedOn = [...request.headers.keys()].some(
    name => name !== unproven?.header && PASSED_ON.test(name),
  )
  return isHere && !isPassedOn && !isCrossSite(request, undefined)
}

/** What to do if the address is unknown. `header` is the one in which a development server passes an address. */
function howToKnow(header: string | undefined): string {
  const unknown = "The client's address is unknown here"
  return header
    ? `${unknown}, since clients may send \`${header}\` themselves: if only this machine can connect, set \`trustProxy: '${header}'\``
    : `${unknown}: serve the handler with \`serve\` of \`servable/node\`, \`bun\` or \`deno\`, or set \`authenticate\``
}
