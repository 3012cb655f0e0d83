/**
 * Takes a request through the service: route ▸ CORS preflight ▸ middleware ▸ endpoint ▸ errors ▸ headers.
 *
 * @module
 */

import { isServableError, messageOf, redact, ServableError } from '../errors.ts'
import type { Cors } from '../web/cors.ts'
import { plain } from '../web/plain.ts'
import { problemResponse } from '../web/problem.ts'
import { Reply } from '../web/reply.ts'
import { checkResponse, withHeaders, withoutBody } from '../web/response.ts'
import { type Answer, compose, type Log, type Middleware, type Part, RequestState } from './context.ts'
import type { KeyReader } from './key-headers.ts'
import { platformOf } from './platform.ts'
import { type Match, type Matcher, pathnameOf } from './router.ts'
import { traceIdOf } from './trace.ts'

/** What dispatching needs. */
export interface DispatchOptions {
  readonly find: Matcher
  readonly middleware: readonly Middleware[]
  /** By part; none for one that is not to be called across origins. */
  readonly corsOf: (part: Part) => Cors | undefined
  /** Answers what matches nothing; its responses are passed on untouched. */
  readonly fallback: ((request: Request) => Response | Promise<Response>) | undefined
  readonly production: boolean
  readonly log: Log
  /** Whether each request is told to the log. */
  readonly logsRequests: boolean
  /** To keep the keys of a failed request out of the log. */
  readonly readKeys: KeyReader
}

/** Builds the handler function. It never rejects: every failure is a response. */
export function createDispatch(
  options: DispatchOptions,
): (request: Request, platform?: unknown) => Promise<Response> {
  const { find, corsOf, fallback, log } = options
  const serve = compose(options.middleware, (request, state) => answerMatch(request, state, options))

  const answer = async (request: Request, state: RequestState): Promise<Response> => {
    let reached: Answer
    try {
      state.match = find(request.method, pathnameOf(request.url))
      if (state.match === undefined && fallback !== undefined) {
        return checkResponse(await fallback(request), '`fallback`')
      }
      reached =
        corsOf(state.part)?.preflight(request, methodsOf(state.match)) ?? (await serve(request, state))
      if (!(reached instanceof Reply)) checkResponse(reached, 'middleware')
    } catch (error) {
      reached = explain(error, request, state, options)
    }
    return finish(reached, request, state, corsOf(state.part))
  }

  const answerAndTell = async (request: Request, state: RequestState): Promise<Response> => {
    const response = await answer(request, state)
    tellRequest(log, request, state, { status: response.status, durationMs: state.ageMs })
    return response
  }

  const respond = options.logsRequests ? answerAndTell : answer
  return (request, argument) => respond(request, new RequestState(request, platformOf(argument), log))
}

/** Makes the response that leaves: with the headers that every one has, and without a body where `HEAD` asks. */
function finish(answer: Answer, request: Request, state: RequestState, cors: Cors | undefined): Response {
  const { requestId, setHeaders } = state
  const isHead = request.method === 'HEAD'
  if (answer instanceof Reply && !isHead && setHeaders === undefined && cors === undefined) {
    return state.respond(answer.with({ 'x-request-id': requestId }))
  }
  let response = answer instanceof Reply ? state.respond(answer) : answer
  // It is a WebSocket's: a copy of it would be none.
  if (response.status === 101) return response
  if (isHead) response = withoutBody(response)
  return withHeaders(response, headers => {
    headers.set('x-request-id', requestId)
    for (const [name, value] of setHeaders ?? []) {
      if (name === 'set-cookie') headers.append(name, value)
      else headers.set(name, value)
    }
    cors?.mark(request, headers)
  })
}

/** An id of a run or a task: who knows it may read that. */
const UUID = /\b([\da-f]{8})-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi

/** Most characters of a path in the log. */
const MAX_PATH = 500

/** One entry a request: no query and no header, which may hold keys; of a run's id, which is a capability, the start. */
function tellRequest(
  log: Log,
  request: Request,
  { requestId, part, runId, identity, traceparent }: RequestState,
  answer: { readonly status: number; readonly durationMs: number },
): void {
  log({
    level: 'info',
    event: 'request',
    method: request.method,
    // Not every runtime gives an address that was parsed.
    path: plain(pathnameOf(request.url).slice(0, MAX_PATH).replace(UUID, '$1')),
    part,
    ...answer,
    requestId,
    ...(runId !== undefined && { runId: runId.slice(0, 8) }),
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
  const error = new ServableError('method_not_allowed', `This path answers ${allow}`)
  const { requestId } = state
  return problemResponse(error, { requestId, production: options.production, headers: { allow } })
}

function methodsOf(match: Match): readonly string[] {
  if (match === undefined) return []
  return match.found === 'path' ? match.allow : [match.route.method]
}

/** Turns a throw into a response. What nobody threw on purpose is logged; failed runs have been logged already. */
function explain(error: unknown, request: Request, state: RequestState, options: DispatchOptions): Response {
  const { requestId, part, runId, log } = state
  const secrets = Object.values(options.readKeys(request.headers, undefined) ?? {})
  if (!isServableError(error)) {
    log({
      level: 'error',
      event: 'request.failed',
      requestId,
      part,
      message: redact(messageOf(error), secrets),
    })
  }
  const headers = runId === undefined ? undefined : { 'x-run-id': runId }
  return problemResponse(error, { requestId, production: options.production, secrets, headers })
}
