/**
 * The endpoint: reads a message, determines its era, and answers it.
 *
 * @module
 */

import { isServableError, messageOf, ServableError, shouldLog } from '../../base/errors.ts'
import type { Endpoint, EndpointResult, RequestState } from '../../http/context.ts'
import { RequestAsker } from '../../http/security/asker.ts'
import { checkPermitOf } from '../../runs/permit.ts'
import { readJson, requireJson } from '../../web/body.ts'
import { askedHost, isAmong } from '../../web/host.ts'
import { LOOPBACK_ADDRESS, LOOPBACK_NAME } from '../../web/ip-address.ts'
import { problemResponse } from '../../web/problem.ts'
import { jsonReply } from '../../web/reply.ts'
import { answersTo } from './asking.ts'
import { callTool } from './call.ts'
import { capabilitiesOf, LEGACY, MODERN, own } from './era.ts'
import { specOf } from './offer.ts'
import type { CallContext, Guard, McpRequest, Method } from './request.ts'
import {
  errorReply,
  type Id,
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  messageIn,
  problemError,
  RpcError,
  type RpcMessage,
} from './rpc.ts'
import { SESSION } from './sessions.ts'

/** What the endpoint needs. */
export interface EndpointParts extends CallContext {
  /** The name and version that clients show of the service. */
  readonly info: { readonly name: string; readonly version: string; readonly title?: string | undefined }
  readonly instructions: string | undefined
  readonly allowedHosts: readonly string[] | undefined
  readonly guard: Guard | undefined
}

/** Tools of one page of a list. */
const MAX_PAGE = 500

/** Milliseconds for which a client may cache the description of the service and the list of its tools. */
const TTL_MS = 60_000

/** Makes the endpoint. */
export function mcpEndpoint(parts: EndpointParts): Endpoint {
  const { core, guard } = parts
  const methods = methodsOf(parts)
  return async (request, state) => {
    let id: Id | undefined
    try {
      checkHost(request, state, parts)
      await guard?.check(request, state)
      requireJson(request)
      const message = messageIn(await readJson(request, core.maxBodyBytes).catch(asUnparsed))
      id = message.id
      return await answerMessage(message, request, state, parts, methods)
    } catch (error) {
      state.rpc = { ...state.rpc, code: isServableError(error) ? error.code : 'invalid_request' }
      if (error instanceof RpcError) return errorReply(id, error)
      if (shouldLog(error)) state.logThrown('request.failed', error, request)
      const { production } = core
      const secrets = Object.values(core.readKeys(request.headers, undefined) ?? {})
      const problem = problemResponse(error, { requestId: state.requestId, production, secrets })
      const answer = await problemError(problem, id)
      return guard?.challenge(answer) ?? answer
    }
  }
}

/** Throws `parse_error` for a body that is not JSON. */
function asUnparsed(cause: unknown): never {
  if (isServableError(cause) && cause.code !== 'invalid_body') throw cause
  throw new ServableError('parse_error', messageOf(cause), { cause })
}

/**
 * Throws `forbidden` for a host that is not the service's own, because a page may let its own name resolve to this machine (DNS
 * rebinding). Without `allowedHosts`, this refuses pages on this machine, and outside production any page, that use a name which
 * is not a loopback name. Requests of programs have no `Origin`, so they pass.
 */
function checkHost(
  request: Request,
  { peer = '' }: RequestState,
  { core: { production, publicUrl, settings }, allowedHosts }: EndpointParts,
): void {
  const asked = askedHost(request)
  const isOwn = allowedHosts
    ? isAmong(asked, allowedHosts)
    : !request.headers.has('origin') ||
      isAmong(asked, settings.allowedHosts) ||
      (!publicUrl && production && !LOOPBACK_ADDRESS.test(peer))
  if (isOwn || LOOPBACK_NAME.test(asked.name)) return
  throw new ServableError('forbidden', `The host \`${asked.name}\` must be in \`mcp.allowedHosts\``)
}

const accepted = (): EndpointResult => new Response(null, { status: 202 })

async function answerMessage(
  message: RpcMessage,
  request: Request,
  state: RequestState,
  parts: EndpointParts,
  methods: ReadonlyMap<string, Method>,
): Promise<EndpointResult> {
  const { id, method, params } = message
  if (method === undefined) return takeResponse(message, request, state, parts)
  if (id === undefined) {
    if (method === 'notifications/cancelled') {
      state.rpc = { method }
      parts.sessions.cancel(request, params.requestId)
    }
    return accepted()
  }
  const capabilities = capabilitiesOf(request, { method, params })
  const answer = (result: object) =>
    capabilities === undefined
      ? result
      : {
          resultType: 'complete',
          ...result,
          _meta: { ...Object(result)._meta, [own('serverInfo')]: parts.info },
        }
  const rpc: McpRequest = { id, params, request, state, capabilities, answer }
  if (method === 'tools/call') {
    state.rpc = { method }
    return callTool(rpc, parts)
  }
  const perform = methods.get(`${capabilities === undefined ? 'legacy' : 'modern'} ${method}`)
  if (perform === undefined)
    throw new RpcError(METHOD_NOT_FOUND, 'There is no such method', capabilities === undefined ? 200 : 404)
  state.rpc = { method }
  const result = answer(await perform(rpc, parts))
  const isBegin = method === 'initialize'
  const headers = isBegin ? { [SESSION]: parts.sessions.begin(Object(params.capabilities)) } : {}
  return jsonReply({ jsonrpc: '2.0', id, result }, { headers })
}

/** Takes the answer of a client to a request on a stream. The id of the answer names the run and its request. */
async function takeResponse(
  { id, result }: RpcMessage,
  request: Request,
  state: RequestState,
  { core, seal }: EndpointParts,
): Promise<EndpointResult> {
  const [, handle = '', key = ''] = /^([^/]+)\/(.*)$/s.exec(String(id)) ?? []
  const runId = await seal.open(handle, { owner: state.owner, tool: '' })
  if (runId === undefined) return accepted()
  const { requests = [], ...record } = await core.host.get(runId, state.owner)
  const { answers, isRefused } = answersTo(requests, { [key]: result ?? { action: 'cancel' } })
  if (isRefused) {
    await checkPermitOf(core.runs.permit, state, () => record)
    await core.host.cancel(runId, state.owner)
  } else if (answers.length > 0)
    await core.answer(
      { id: runId, answers, isBackground: true },
      new RequestAsker(request, state, core.readKeys),
    )
  return accepted()
}

/** The methods, by era and name. */
function methodsOf({ info, instructions, offer, tasks }: EndpointParts): ReadonlyMap<string, Method> {
  const list = async ({ params: { cursor = '0' } }: McpRequest) => {
    const all = await offer.list()
    if (typeof cursor !== 'string' || !/^\d{1,9}$/.test(cursor))
      throw new RpcError(INVALID_PARAMS, '`cursor` must be one of an earlier page', 200)
    const from = Number(cursor)
    const next = from + MAX_PAGE
    return {
      tools: all.slice(from, next).map(specOf),
      ...(next < all.length && { nextCursor: String(next) }),
    }
  }
  const caching = ({ state }: McpRequest) => ({
    ttlMs: TTL_MS,
    cacheScope: state.identity ? 'private' : 'public',
  })
  return new Map<string, Method>([
    [
      'modern server/discover',
      rpc => ({
        supportedVersions: [MODERN],
        capabilities: { tools: {}, ...(tasks && { extensions: tasks.extensions }) },
        instructions,
        ...caching(rpc),
      }),
    ],
    ['modern tools/list', async rpc => ({ ...(await list(rpc)), ...caching(rpc) })],
    ...Object.entries(tasks?.methods ?? {}).map(([name, method]) => [`modern ${name}`, method] as const),
    [
      'legacy initialize',
      ({ params: { protocolVersion } }) => ({
        protocolVersion: LEGACY.find(each => each === protocolVersion) ?? LEGACY[0],
        capabilities: { tools: {} },
        serverInfo: info,
        instructions,
      }),
    ],
    ['legacy ping', () => ({})],
    ['legacy tools/list', list],
  ])
}
