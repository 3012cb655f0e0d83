/**
 * The JSON-RPC 2.0 binding (section 9 of A2A 1.0, and the binding of 0.2 and 0.3). One endpoint serves every generation.
 * The name of the method determines the generation.
 *
 * @module
 */

import { type ErrorReport, ServableError } from '../../base/errors.ts'
import type { EndpointResult, RequestState } from '../../http/context.ts'
import type { Target } from '../../runs/target.ts'
import { requireJson } from '../../web/body.ts'
import { discard, jsonReply } from '../../web/reply.ts'
import { SSE_HEADERS, sseData, sseMessage } from '../../web/sse.ts'
import { type BindingOptions, callOf, readParams, reportOf, streamResponse, versionOf } from './endpoint.ts'
import { jsonRpcError } from './errors.ts'
import type { OperationName } from './operations.ts'
import { v1 } from './wire/v1.ts'
import { v03 } from './wire/v03.ts'
import type { Wire } from './wire/wire.ts'

/** The generation and the operation of each method. */
const METHODS: ReadonlyMap<string, readonly [wire: Wire, operation: OperationName]> = new Map([
  ['SendMessage', [v1, 'send']],
  ['SendStreamingMessage', [v1, 'stream']],
  ['GetTask', [v1, 'get']],
  ['ListTasks', [v1, 'list']],
  ['CancelTask', [v1, 'cancel']],
  ['SubscribeToTask', [v1, 'subscribe']],
  ['CreateTaskPushNotificationConfig', [v1, 'pushSet']],
  ['GetTaskPushNotificationConfig', [v1, 'pushGet']],
  ['ListTaskPushNotificationConfigs', [v1, 'pushList']],
  ['DeleteTaskPushNotificationConfig', [v1, 'pushDelete']],
  ['GetExtendedAgentCard', [v1, 'extendedCard']],
  ['message/send', [v03, 'send']],
  ['message/stream', [v03, 'stream']],
  ['tasks/get', [v03, 'get']],
  ['tasks/cancel', [v03, 'cancel']],
  ['tasks/resubscribe', [v03, 'subscribe']],
  ['tasks/pushNotificationConfig/set', [v03, 'pushSet']],
  ['tasks/pushNotificationConfig/get', [v03, 'pushGet']],
  ['tasks/pushNotificationConfig/list', [v03, 'pushList']],
  ['tasks/pushNotificationConfig/delete', [v03, 'pushDelete']],
  ['agent/getAuthenticatedExtendedCard', [v03, 'extendedCard']],
])

type Id = string | number | null

/** A JSON-RPC request. Without an id it is a notification. */
interface RpcRequest {
  readonly id: Id | undefined
  readonly method: string
  readonly params: unknown
}

/** What is known about a request when it fails. */
interface Progress {
  /** Undefined for a notification. Null if no id could be read. */
  id: Id | undefined
  method: string | undefined
}

/** Answers a request. `agentOf` returns the agent if the endpoint belongs to one agent. */
export async function answerJsonRpc(
  request: Request,
  state: RequestState,
  options: BindingOptions,
  agentOf: (state: RequestState) => Target | undefined,
): Promise<EndpointResult> {
  const progress: Progress = { id: null, method: undefined }
  try {
    requireRpcJson(request)
    const body = await readParams(request, options.maxBodyBytes)
    progress.id = idIn(body)
    const rpc = checkRpc(body)
    progress.id = rpc.id
    progress.method = rpc.method
    const response = await perform(rpc, request, state, options, agentOf(state))
    return rpc.id === undefined ? noContent(response) : response
  } catch (error) {
    const report = reportOf(error, request, state, options)
    state.rpc = { ...state.rpc, code: report.code }
    return answerError(report, progress)
  }
}

function answerError(report: ErrorReport, { id, method = '' }: Progress): EndpointResult {
  if (id === undefined && !isAnsweredWithoutId(report, method)) return new Response(null, { status: 204 })
  const body = { jsonrpc: '2.0', id: id ?? null, error: jsonRpcError(report) }
  const [wire, operation] = METHODS.get(method) ?? []
  // Clients of 0.2 and 0.3 read every answer of a streaming method as a stream, including errors.
  const isLegacyStream = wire === v03 && (operation === 'stream' || operation === 'subscribe')
  // Authentication fails here only for the extended card. The status is that of HTTP (section 7.6).
  const status = report.code === 'unauthorized' ? 401 : 200
  if (!isLegacyStream || id == null) return jsonReply(body, { status })
  return new Response(sseData(body), { headers: SSE_HEADERS })
}

/**
 * Whether a request without an id gets an error answer. A notification gets no answer (JSON-RPC 2.0, section 4.1). But no
 * method of 0.3 makes sense as a notification, so a missing id is a mistake there. The client gets an error if its method or
 * parameters are wrong.
 */
function isAnsweredWithoutId({ code }: ErrorReport, method: string): boolean {
  return method.includes('/') && (code === 'method_not_found' || code === 'invalid_params')
}

async function perform(
  { id = null, method, params }: RpcRequest,
  request: Request,
  state: RequestState,
  options: BindingOptions,
  agent: Target | undefined,
): Promise<EndpointResult> {
  versionOf(request)
  const found = METHODS.get(method)
  if (found === undefined) throw new ServableError('method_not_found', 'There is no such method')
  state.rpc = { method }
  const [wire, operation] = found
  const call = await callOf(request, state, { wire, params, agent, operation }, options)
  const answer = await options.operations[operation](call)
  if ('response' in answer) return answer.response
  if ('value' in answer) return jsonReply({ jsonrpc: '2.0', id, result: answer.value })
  return streamResponse(
    answer.updates,
    {
      update: (update, seq) => {
        const result = wire.encode.update(update)
        return sseMessage(seq, JSON.stringify({ jsonrpc: '2.0', id, result }))
      },
      failure: report => sseData({ jsonrpc: '2.0', id, error: jsonRpcError(report) }),
    },
    { ...options, report: error => state.logThrown('stream.failed', error, request) },
  )
}

/** Drops the answer of a notification (JSON-RPC 2.0, section 4.1). */
function noContent(answer: EndpointResult): EndpointResult {
  discard(answer)
  return new Response(null, { status: 204 })
}

function requireRpcJson(request: Request): void {
  try {
    requireJson(request)
  } catch (cause) {
    throw new ServableError('content_type_not_supported', 'The `content-type` must be `application/json`', {
      cause,
    })
  }
}

/** Returns the id for the answer. Null if the body has no valid id, or one that JSON does not give unchanged. */
function idIn(body: unknown): Id {
  const { id } = Object(body) as { id?: unknown }
  return isShortText(id) || (typeof id === 'number' && Math.abs(id) <= Number.MAX_SAFE_INTEGER) ? id : null
}

/** Most characters of an id. Each event of a stream repeats the id. */
const MAX_ID = 1000

function isShortText(id: unknown): id is string {
  return typeof id === 'string' && id.length <= MAX_ID
}

/** Checks the envelope. Batches are refused. */
function checkRpc(body: unknown): RpcRequest {
  if (Array.isArray(body))
    throw new ServableError('invalid_request', 'Batches are not supported: send one request at a time')
  const { jsonrpc, id, method, params } = Object(body) as Record<string, unknown>
  const isId = id === undefined || id === null || isShortText(id) || Number.isSafeInteger(id)
  if (jsonrpc !== '2.0') throw new ServableError('invalid_request', '`jsonrpc` must be "2.0"')
  if (typeof method !== 'string') throw new ServableError('invalid_request', '`method` must be text')
  if (!isId) {
    const text = `\`id\` must be text of at most ${MAX_ID} characters, a whole number below 2^53 or null`
    throw new ServableError('invalid_request', text)
  }
  if (params !== undefined && (typeof params !== 'object' || params === null)) {
    throw new ServableError('invalid_params', '`params` must be an object')
  }
  return { id: id as Id | undefined, method, params }
}
