/**
 * The HTTP+JSON binding of 1.0 (section 11), and the binding of 0.3 below `/v1`.
 *
 * @module
 */

import { type ErrorReport, ServableError } from '../../base/errors.ts'
import { isObject } from '../../base/validation.ts'
import type { Endpoint, RequestState, Route } from '../../http/context.ts'
import { joinPath, queryOf } from '../../http/router.ts'
import type { Target } from '../../runs/target.ts'
import { retryHeaders } from '../../web/problem.ts'
import { sseData, sseMessage } from '../../web/sse.ts'
import {
  type BindingOptions,
  callOf,
  readParams,
  reportOf,
  type StreamWriter,
  streamResponse,
  versionOf,
} from './endpoint.ts'
import { legacyRestError, restError } from './errors.ts'
import type { OperationName } from './operations.ts'
import { v1 } from './wire/v1.ts'
import { v03Rest } from './wire/v03-rest.ts'
import type { Wire } from './wire/wire.ts'

/** Which part of the request has the parameters of an operation. */
type ParamsFrom = 'body' | 'query' | 'path'

interface RestOperation {
  readonly operation: OperationName
  readonly from: ParamsFrom
}

type Verbs = Readonly<Record<string, RestOperation>>

/** `POST /message:verb` */
const MESSAGE_VERBS: Verbs = {
  ':send': { operation: 'send', from: 'body' },
  ':stream': { operation: 'stream', from: 'body' },
}

/** `POST /tasks/{id}:verb` */
const TASK_VERBS: Verbs = {
  ':cancel': { operation: 'cancel', from: 'path' },
  ':subscribe': { operation: 'subscribe', from: 'path' },
}

/** `GET /tasks/{id}` with or without a verb. */
const TASK_READS: Verbs = {
  '': { operation: 'get', from: 'query' },
  ':subscribe': { operation: 'subscribe', from: 'path' },
}

/** The paths of one generation. */
interface Generation {
  readonly wire: Wire
  readonly errorOf: (report: ErrorReport) => { readonly status: number; readonly body: object }
  readonly prefix: string
  readonly cardPath: string
}

const GENERATIONS: readonly Generation[] = [
  { wire: v1, errorOf: restError, prefix: '', cardPath: 'extendedAgentCard' },
  { wire: v03Rest, errorOf: legacyRestError, prefix: 'v1', cardPath: 'card' },
]

/** Returns the routes below an endpoint. `agentOf` returns the agent if the endpoint belongs to one agent. */
export function restRoutes(
  base: string,
  options: BindingOptions,
  agentOf: (state: RequestState) => Target | undefined,
): Route[] {
  return GENERATIONS.flatMap(generation => {
    const { prefix, cardPath } = generation
    const route = (
      method: Route['method'],
      path: string,
      pick: (state: RequestState) => Picked,
      more: Partial<Route> = {},
    ): Route => ({
      method,
      path: joinPath(base, prefix, path),
      part: 'a2a',
      endpoint: answering(generation, options, pick, agentOf),
      ...more,
    })
    const push = (operation: OperationName, from: ParamsFrom) => (state: RequestState) => ({
      operation,
      from,
      path: pushPath(state),
    })
    return [
      route('POST', 'message:verb', state => ({ ...verbOf(MESSAGE_VERBS, state.params.verb), path: {} })),
      route('GET', 'tasks', () => ({ operation: 'list', from: 'query', path: {} })),
      route('GET', 'tasks/:id', state => taskOf(TASK_READS, state)),
      route('POST', 'tasks/:id', state => taskOf(TASK_VERBS, state)),
      route('GET', 'tasks/:id/pushNotificationConfigs', push('pushList', 'query')),
      route('POST', 'tasks/:id/pushNotificationConfigs', push('pushSet', 'body')),
      route('GET', 'tasks/:id/pushNotificationConfigs/:config', push('pushGet', 'path')),
      route('DELETE', 'tasks/:id/pushNotificationConfigs/:config', push('pushDelete', 'path')),
      route('GET', cardPath, () => ({ operation: 'extendedCard', from: 'path', path: {} }), {
        decidesItself: options.hasExtendedCard,
      }),
    ]
  })
}

/** An operation with the parameters from the path. */
interface Picked extends RestOperation {
  readonly path: Readonly<Record<string, string>>
}

function verbOf(verbs: Verbs, verb = ''): RestOperation {
  const found = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
  if (found !== undefined) return found
  throw new ServableError('not_found', 'There is no such operation')
}

function pushPath({ params: { id = '', config } }: RequestState): Record<string, string> {
  return { taskId: id, ...(config !== undefined && { id: config }) }
}

/** Splits `{id}:verb`. Ids contain no colon. */
function taskOf(verbs: Verbs, { params: { id = '' } }: RequestState): Picked {
  const colon = id.lastIndexOf(':')
  const verb = colon === -1 ? '' : id.slice(colon)
  return { ...verbOf(verbs, verb), path: { id: colon === -1 ? id : id.slice(0, colon) } }
}

function answering(
  generation: Generation,
  options: BindingOptions,
  pick: (state: RequestState) => Picked,
  agentOf: (state: RequestState) => Target | undefined,
): Endpoint {
  const { wire, errorOf } = generation
  return async (request, state) => {
    const type = contentTypeFor(request)
    try {
      versionOf(request)
      const picked = pick(state)
      const params = await paramsOf(picked, request, options.maxBodyBytes)
      // A HEAD request for a stream must not follow the task.
      const isHead = request.method === 'HEAD' && picked.operation === 'subscribe'
      const operation = isHead ? 'get' : picked.operation
      const call = await callOf(request, state, { wire, params, agent: agentOf(state), operation }, options)
      const answer = await options.operations[operation](call)
      if ('response' in answer) return answer.response
      if ('value' in answer)
        return new Response(JSON.stringify(answer.value), { headers: { 'content-type': type } })
      const report = (error: unknown) => state.logThrown('stream.failed', error, request)
      return streamResponse(answer.updates, writerOf(generation), { ...options, report })
    } catch (error) {
      return answerError(errorOf(reportOf(error, request, state, options)), type)
    }
  }
}

function answerError({ status, body }: ReturnType<Generation['errorOf']>, type: string): Response {
  const headers = { 'content-type': type, ...retryHeaders(status) }
  return new Response(JSON.stringify(body), { status, headers })
}

function writerOf({ wire, errorOf }: Generation): StreamWriter {
  return {
    update: (update, seq) => sseMessage(seq, JSON.stringify(wire.encode.update(update))),
    failure: report => `event: error\n${sseData(errorOf(report).body)}`,
  }
}

async function paramsOf({ from, path }: Picked, request: Request, maxBodyBytes: number): Promise<unknown> {
  if (from === 'path') return path
  if (from === 'query') return { ...Object.fromEntries(queryOf(request.url)), ...path }
  requireA2AJson(request)
  const body = await readParams(request, maxBodyBytes)
  // Parameters of the path take precedence (section 11.3.3). The body is not copied, because it may have half a million
  // names.
  return isObject(body) ? Object.assign(body, path) : body
}

function requireA2AJson(request: Request): void {
  const type = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (type === 'application/json' || type === 'application/a2a+json') return
  throw new ServableError(
    'unsupported_media_type',
    'The `content-type` must be `application/a2a+json` or `application/json`',
  )
}

/** The content type of the answer: `application/a2a+json` if the client accepts it (section 11.1). */
function contentTypeFor(request: Request): string {
  const accepts = request.headers.get('accept') ?? ''
  return accepts.includes('application/a2a+json') ? 'application/a2a+json' : 'application/json'
}
