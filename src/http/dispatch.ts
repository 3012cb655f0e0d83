/**
 * Takes a request through the service: route ▸ host ▸ CORS preflight ▸ cross-site check ▸ middleware ▸ endpoint ▸ errors ▸ headers.
 *
 * @module
 */

import { isServableError, isUntold, ServableError } from '../base/errors.ts'
import type { Cors } from '../web/cors.ts'
import { isAddressed } from '../web/host.ts'
import { plain } from '../web/plain.ts'
import { PROBLEM_TYPE, problemResponse } from '../web/problem.ts'
import { Reply } from '../web/reply.ts'
import { checkResponse, withHeaders, withoutBody } from '../web/response.ts'
import {
  type Answer,
  answererOf,
  compose,
  type Middleware,
  RequestState,
  type RequestTools,
  type Route,
  type RouteMatch,
  type Territory,
} from './context.ts'
import { type Log, loggedPath } from './log.ts'
import { platformOf } from './platform.ts'
import { type Matcher, pathnameOf } from './router.ts'
import { checkCrossSite, checkHost, type HostOptions } from './security/cross-site.ts'
import { traceIdOf } from './trace.ts'

/** What dispatching needs. */
export interface DispatchOptions extends RequestTools, HostOptions {
  readonly find: Matcher<Route, Territory>
  readonly middleware: readonly Middleware[]
  /** Who may call a route across origins that says nothing of it; undefined for nobody. */
  readonly cors: Cors | undefined
  /** The address under which clients reach the service, where it is not the request's. */
  readonly publicUrl: string | undefined
  /** Answers what matches nothing; its responses are passed on untouched. */
  readonly fallback: ((request: Request) => Response | Promise<Response>) | undefined
  readonly production: boolean
  /** Whether each request is told to the log. It may change. */
  readonly logSeat: { readonly tellsRequests: boolean }
  /** The `Link` header of an answer that found nothing. */
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
    let reached: Answer
    try {
      if (!isAddressed(request))
        throw new ServableError('invalid_header', '`Host` must be a host, with an optional port')
      state.match = find(request.method, pathnameOf(request.url))
      checkHost(request, state, options)
      if (state.match === undefined && fallback !== undefined) {
        return checkResponse(await fallback(request), '`fallback`')
      }
      const cors = corsOf(state)
      const preflight = cors?.preflight(request, methodsOf(state.match))
      // What leads to no route changes nothing.
      if (preflight === undefined && state.match?.found === 'route') {
        checkCrossSite(request, state.match.route, { cors, publicUrl })
      }
      reached = preflight ?? (await serve(request, state))
      if (!(reached instanceof Reply)) checkResponse(reached, answererOf(state))
    } catch (error) {
      reached = explain(error, request, state, options)
    }
    return finish(
      state.toError ? await inForm(reached, state.toError) : reached,
      request,
      state,
      corsOf(state),
    )
  }

  const answerAndTell = async (request: Request, state: RequestState): Promise<Response> => {
    const response = await answer(request, state)
    tellRequest(log, request, state, { status: response.status, durationMs: state.ageMs })
    return response
  }

  return (request, argument) => {
    const respond = options.logSeat.tellsRequests ? answerAndTell : answer
    return respond(request, new RequestState(request, platformOf(argument), options))
  }
}

/** An error in the form of its route. */
function inForm(answer: Answer, toError: NonNullable<Route['toError']>): Answer | Promise<Answer> {
  const isProblem = answer instanceof Response && answer.headers.get('content-type') === PROBLEM_TYPE
  return isProblem ? toError(answer) : answer
}

const CACHES = 'cache-control'

/** Makes the response that leaves: with the headers that every one has, and without a body where `HEAD` asks. */
function finish(answer: Answer, request: Request, state: RequestState, cors: Cors | undefined): Response {
  const { requestId, setHeaders } = state
  const { method } = request
  const isHead = method === 'HEAD'
  // Whoever else asks gets no answer of this one, where the answer itself says nothing of caches (RFC 9111, section 5.2.2).
  const caching = (isHead || method === 'GET') && (answer.status < 400 ? 'private' : 'no-store')
  if (answer instanceof Reply && !isHead && setHeaders === undefined && cors === undefined) {
    const isSilent = caching && answer.headers[CACHES] === undefined
    return state.respond(answer.with({ 'x-request-id': requestId, ...(isSilent && { [CACHES]: caching }) }))
  }
  let response = answer instanceof Reply ? state.respond(answer) : answer
  // It is a WebSocket's: a copy of it would be none.
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

/** One entry a request: no query and no header, which may hold keys. */
function tellRequest(
  log: Log,
  request: Request,
  { requestId, part, runRef, ip, identity, traceparent }: RequestState,
  answer: { readonly status: number; readonly durationMs: number },
): void {
  log({
    level: 'info',
    event: 'request',
    method: request.method,
    // Not every runtime gives an address that was parsed.
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
): Answer | Promise<Answer> {
  const { match } = state
  if (match?.found === 'route') return match.route.endpoint(request, state)
  if (match === undefined || match.allow.length === 0)
    throw new ServableError('not_found', 'Nothing is served at this path')
  const allow = match.allow.join(', ')
  if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: { allow } })
  const error = new ServableError('method_not_allowed', `This path accepts ${allow}`)
  const { requestId } = state
  const headers = { allow, ...linkOf(options) }
  return problemResponse(error, { requestId, production: options.production, headers })
}

/** Whoever has come to the wrong place is told where to look. */
function linkOf({ link }: DispatchOptions): { readonly link?: string } {
  return link === undefined ? {} : { link }
}

function methodsOf(match: RouteMatch): readonly string[] {
  if (match === undefined) return []
  return match.found === 'path' ? match.allow : [match.route.method]
}

/** Turns a throw into a response. What the client cannot mend is logged; failed runs have been logged already. */
function explain(error: unknown, request: Request, state: RequestState, options: DispatchOptions): Response {
  const { requestId, runId } = state
  const secrets = Object.values(options.readKeys(request.headers, undefined) ?? {})
  if (isUntold(error)) state.tellThrown('request.failed', error, request)
  const isLost = state.match?.found !== 'route' && isServableError(error) && error.code === 'not_found'
  const headers = { ...(runId !== undefined && { 'x-run-id': runId }), ...(isLost && linkOf(options)) }
  return problemResponse(error, { requestId, production: options.production, secrets, headers })
}
