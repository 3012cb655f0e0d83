/**
 * Takes a request through the service: route ▸ host ▸ CORS preflight ▸ cross-site check ▸ middleware ▸ endpoint ▸ errors ▸ headers.
 *
 * The door `http` turns a request into a reply. Begin here, then `router.ts`, `http/runs/start-run.ts` (starts every run) and
 * `routes/`. Who may call is in `security/`, how much in `limits/`. May import `runs` and what is below it.
 *
 * @module
 */

import { isServableError, ServableError, shouldLog } from '../base/errors.ts'
import type { Cors } from '../web/cors.ts'
import { isAddressed } from '../web/host.ts'
import { plain } from '../web/plain.ts'
import { PROBLEM_TYPE, problemResponse } from '../web/problem.ts'
import { Reply } from '../web/reply.ts'
import { checkResponse, withHeaders, withoutBody } from '../web/response.ts'
import {
  answererOf,
  compose,
  type EndpointResult,
  type Middleware,
  RequestState,
  type RequestTools,
  type Route,
  type RouteMatch,
  type Territory,
  traceIdOf,
} from './context.ts'
import { logThrown } from './failure-log.ts'
import { type Log, loggedPath } from './log.ts'
import { platformOf } from './platform.ts'
import { type Matcher, pathnameOf } from './router.ts'
import type { Roles } from './security/acting.ts'
import { checkCrossSite, checkHost, type HostOptions } from './security/cross-site.ts'
import type { Identify } from './security/local.ts'

/** The options of dispatching. */
export interface DispatchOptions extends RequestTools, HostOptions {
  readonly roles: Roles | undefined
  readonly find: Matcher<Route, Territory>
  readonly middleware: readonly Middleware[]
  /** The origins that may call a route without its own setting; undefined for none. */
  readonly cors: Cors | undefined
  /** The address under which clients reach the service, if it is not the request's. */
  readonly publicUrl: string | undefined
  /** Identifies who sends a request, before the middleware. It may be set and taken away. */
  readonly locals: { readonly identify?: Identify | undefined }
  /** Answers requests that match nothing. Its responses are passed on unchanged. */
  readonly fallback: ((request: Request) => Response | Promise<Response>) | undefined
  readonly production: boolean
  /** Whether each request is logged. It may change. */
  readonly requestLog: { readonly logsRequests: boolean }
  /** The `Link` header of a `not_found` response. */
  readonly link: string | undefined
}

/** Builds the handler function. It never rejects: every failure is a response. */
export function createDispatch(
  options: DispatchOptions,
): (request: Request, platform?: unknown) => Promise<Response> {
  const { find, publicUrl, fallback, log } = options
  const corsOf = ({ cors = options.cors }: RequestState) => cors ?? undefined
  const serve = compose(options.middleware, (request, state) => answerMatch(request, state, options))

  const answer = async (request: Request, state: RequestState): Promise<Response> => {
    let reached: EndpointResult
    try {
      if (!isAddressed(request))
        throw new ServableError('invalid_header', '`Host` must be a host, with an optional port')
      state.match = find(request.method, pathnameOf(request.url))
      checkMatch(state.match)
      checkHost(request, state, options)
      state.identity = options.locals.identify?.(request, state)
      if (state.match === undefined && fallback !== undefined) {
        return checkResponse(await fallback(request), '`fallback`')
      }
      const cors = corsOf(state)
      const preflight = cors?.preflight(request, methodsOf(state.match))
      // A request without a route changes nothing.
      if (preflight === undefined && state.match?.found === 'route') {
        checkCrossSite(request, state.match.route, { cors, publicUrl })
      }
      reached = preflight ?? (await serve(request, state))
      if (!(reached instanceof Reply)) checkResponse(reached, answererOf(state))
    } catch (error) {
      reached = explain(error, request, state, options)
    }
    return finish(
      state.toError ? await inForm(reached, state.toError, state, log) : reached,
      request,
      state,
      corsOf(state),
    )
  }

  const answerAndLog = async (request: Request, state: RequestState): Promise<Response> => {
    const response = await answer(request, state)
    logRequest(log, request, state, { status: response.status, durationMs: state.ageMs })
    return response
  }

  return (request, argument) => {
    const respond = options.requestLog.logsRequests ? answerAndLog : answer
    return respond(request, new RequestState(request, platformOf(argument), options))
  }
}

/** Throws `invalid_path` for broken percent-encoding, once the route is known whose form the error has. */
function checkMatch(match: RequestState['match']): void {
  if (match?.found === 'route' && match.error !== undefined) throw match.error
}

/** Converts an error to its route's form. If that fails, the problem is the answer, and the log says why. */
async function inForm(
  answer: EndpointResult,
  toError: NonNullable<Route['toError']>,
  { requestId }: RequestState,
  log: Log,
): Promise<EndpointResult> {
  if (!(answer instanceof Response) || answer.headers.get('content-type') !== PROBLEM_TYPE) return answer
  const kept = answer.clone()
  try {
    const converted = await toError(answer)
    checkResponse(converted, '`toError`')
    return converted
  } catch (error) {
    logThrown(log, { event: 'plugin.failed', requestId }, error)
    return kept
  }
}

const CACHES = 'cache-control'

/** Makes the final response: with the headers of every response, and without a body for `HEAD`. */
function finish(
  answer: EndpointResult,
  request: Request,
  state: RequestState,
  cors: Cors | undefined,
): Response {
  const { requestId, setHeaders } = state
  const { method } = request
  const isHead = method === 'HEAD'
  // Without an own cache header, shared caches must not give the answer to others (RFC 9111, section 5.2.2).
  const caching = (isHead || method === 'GET') && (answer.status < 400 ? 'private' : 'no-store')
  if (answer instanceof Reply && !isHead && setHeaders === undefined && cors === undefined) {
    const isSilent = caching && answer.headers[CACHES] === undefined
    return state.respond(answer.with({ 'x-request-id': requestId, ...(isSilent && { [CACHES]: caching }) }))
  }
  let response = state.respond(answer)
  // A WebSocket's response cannot be copied.
  if (response.status === 101) return response
  if (isHead) response = withoutBody(response)
  return withHeaders(response, headers => {
    headers.set('x-request-id', requestId)
    if (caching && !headers.has(CACHES)) headers.set(CACHES, caching)
    for (const [name, value] of setHeaders ?? []) {
      if (name === 'set-cookie') headers.append(name, value)
      else headers.set(name, value)
    }
    cors?.mark(request, headers)
  })
}

/** Logs one entry per request: without query and headers, which may hold keys. */
function logRequest(
  log: Log,
  request: Request,
  { requestId, part, runRef, ip, identity, traceparent }: RequestState,
  answer: { readonly status: number; readonly durationMs: number },
): void {
  log({
    level: 'info',
    event: 'request',
    method: request.method,
    // Not every runtime passes a parsed address.
    path: loggedPath(pathnameOf(request.url)),
    part,
    ...answer,
    requestId,
    ...(runRef !== undefined && { runId: runRef }),
    ...(ip !== undefined && { ip: plain(ip) }),
    ...(identity !== undefined && { identity: plain(identity.id) }),
    ...(traceparent !== undefined && { traceId: traceIdOf(traceparent) }),
  })
}

function answerMatch(
  request: Request,
  state: RequestState,
  options: DispatchOptions,
): EndpointResult | Promise<EndpointResult> {
  const { match } = state
  if (match?.found === 'route') {
    return options.roles?.act(request, state, match.route) ?? match.route.endpoint(request, state)
  }
  if (match === undefined || match.allow.length === 0)
    throw new ServableError('not_found', 'Nothing is served at this path')
  const allow = match.allow.join(', ')
  if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: { allow } })
  const error = new ServableError('method_not_allowed', `This path accepts ${allow}`)
  const { requestId } = state
  const headers = { allow, ...linkOf(options) }
  return problemResponse(error, { requestId, production: options.production, headers })
}

/** The `Link` header that shows a client where to look. */
function linkOf({ link }: DispatchOptions): { readonly link?: string } {
  return link === undefined ? {} : { link }
}

function methodsOf(match: RouteMatch): readonly string[] {
  if (match === undefined) return []
  return match.found === 'path' ? match.allow : [match.route.method]
}

/** Turns an error into a response. Logs it if the client cannot mend it; failed runs have been logged already. */
function explain(error: unknown, request: Request, state: RequestState, options: DispatchOptions): Response {
  const { requestId, runId } = state
  const secrets = Object.values(options.readKeys(request.headers, undefined) ?? {})
  if (shouldLog(error)) state.logThrown('request.failed', error, request)
  const isLost = state.match?.found !== 'route' && isServableError(error) && error.code === 'not_found'
  const headers = { ...(runId !== undefined && { 'x-run-id': runId }), ...(isLost && linkOf(options)) }
  return problemResponse(error, { requestId, production: options.production, secrets, headers })
}
