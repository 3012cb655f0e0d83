/**
 * Next.js: a catch-all route handler of the App Router, in its Node and in its Edge runtime.
 *
 * @module
 */

import { isProduction, isTest } from '../base/environment.ts'
import { ServableError } from '../base/errors.ts'
import { platform } from '../http/platform.ts'
import { reportNoAddress } from '../http/security/no-address.ts'
import { isHost } from '../web/host.ts'
import { inPlaceOf } from './in-place-of.ts'
import { checkHandler, checkServerless, type Fetch } from './server.ts'

export type { Fetch }

/** Settings that Next.js itself does not provide. */
export interface RouteOptions {
  /**
   * Keeps Next.js alive until a promise settles, such as a run in the background: give it `after` of `next/server`. Default: the
   * `waitUntil` of the hosting platform, if it offers one. A process of `next start` needs none, since it stays alive.
   */
  readonly waitUntil?: (promise: Promise<unknown>) => void
}

/** Answers one method of a route. It does not need the params that Next passes beside the request. */
export type RouteHandler = (request: Request) => Promise<Response>

/** The exports of a `route.ts`: one handler for each method that Next knows. */
export type Route = Readonly<
  Record<'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS', RouteHandler>
>

/**
 * Makes the exports of a catch-all `route.ts`, such as `app/api/[...path]/route.ts`. Add a route file for every other path that
 * the handler serves: another `prefix`, `/.well-known`, a socket. A route handler cannot open a WebSocket, so the event socket
 * uses long polling, which needs `skipTrailingSlashRedirect` in `next.config`. Throws `invalid_options`.
 *
 * @example
 * export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = nextHandlers(handler)
 */
export function nextHandlers(handler: Fetch, options: RouteOptions = {}): Route {
  checkHandler(handler, 'nextHandlers', 'nextHandlers(createHandler({ agents: { … } }))')
  const { waitUntil } = checked(options)
  checkServerless(handler)
  // The warning comes at the start, since requests give no more information.
  reportNoAddress(handler)
  const unproven = isProduction() || isTest() ? undefined : {}
  const answer: RouteHandler = async request => {
    const hold = waitUntil ?? hostsWaitUntil()
    return handler(
      asSent(request),
      platform({
        unproven,
        isIsolated: 'EdgeRuntime' in globalThis,
        waitUntil: hold,
        keepAlive: hold,
      }),
    )
  }
  return {
    GET: answer,
    HEAD: answer,
    POST: answer,
    PUT: answer,
    PATCH: answer,
    DELETE: answer,
    OPTIONS: answer,
  }
}

function checked(options: RouteOptions): RouteOptions {
  const { waitUntil, ...others } = options
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) {
    throw wrong(`\`${unknown}\` is not an option: use \`waitUntil\``)
  }
  if (waitUntil !== undefined && typeof waitUntil !== 'function') {
    throw wrong('`waitUntil` must be a function, such as `after` of `next/server`')
  }
  return options
}

function wrong(what: string): ServableError {
  return new ServableError('invalid_options', `route: ${what}`)
}

/**
 * The request at the address that the client asked for. Next's request has the name with which the server was started. With that
 * name, the event socket would refuse every page as foreign, and cards would show an address that clients cannot reach. An
 * invalid `Host` is dropped. So is `accept-encoding`: Next compresses by itself, and drops the `content-encoding` of answers that
 * are compressed already.
 */
function asSent(request: Request): Request {
  const host = request.headers.get('host')
  const url = new URL(request.url)
  const isSame = host === null || host === url.host
  if (isSame && (request.body !== null || !request.headers.has('accept-encoding'))) return request
  const headers = new Headers(request.headers)
  headers.delete('accept-encoding')
  if (isSame) return inPlaceOf(request, request.url, headers)
  if (isHost(host)) {
    const asked = new URL(`${url.protocol}//${host}`)
    url.hostname = asked.hostname
    url.port = asked.port
  } else headers.delete('host')
  return inPlaceOf(request, url, headers)
}

/** The symbol under which a hosting platform gives Next and libraries the current request ("Deploying", `after`). */
const REQUEST_CONTEXT = Symbol.for('@next/request-context')

interface RequestContext {
  get?(): { readonly waitUntil?: (promise: Promise<unknown>) => void } | undefined
}

function hostsWaitUntil(): RouteOptions['waitUntil'] {
  const context = (globalThis as { [REQUEST_CONTEXT]?: RequestContext })[REQUEST_CONTEXT]
  return context?.get?.()?.waitUntil
}
