/**
 * The one endpoint: reads a message, finds out of which era it is, and answers it.
 *
 * @module
 */

import { isServableError, isUntold, messageOf, ServableError } from '../../base/errors.ts'
import type { Answer, Endpoint, RequestState } from '../../http/context.ts'
import { RequestAsker } from '../../http/security/asker.ts'
import { checkPermitOf } from '../../runs/permit.ts'
import { readJson, requireJson } from '../../web/body.ts'
import { askedHost, isAmong } from '../../web/host.ts'
import { LOOPBACK_ADDRESS, LOOPBACK_NAME } from '../../web/ip-address.ts'
import { problemResponse } from '../../web/problem.ts'
import { jsonReply } from '../../web/reply.ts'
import { givenTo } from './asking.ts'
import { callTool } from './call.ts'
import { capabilitiesOf, LEGACY, MODERN, own } from './era.ts'
import { specOf } from './offer.ts'
import type { CallParts, Guard, McpRequest, Method } from './request.ts'
import {
  errorReply,
  type Id,
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  type Message,
  messageIn,
  problemError,
  RpcError,
} from './rpc.ts'
import { SESSION } from './sessions.ts'

/** What the endpoint needs. */
export interface EndpointParts extends CallParts {
  /** What the service says of itself. */
  readonly info: { readonly name: string; readonly version: string; readonly title?: string | undefined }
  readonly instructions: string | undefined
  readonly allowedHosts: readonly string[] | undefined
  readonly guard: Guard | undefined
}

/** Tools of one page of a list. */
const MAX_PAGE = 500

/** Milliseconds for which a client may keep what it was told of the service and of its tools. */
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
      if (isUntold(error)) state.tellThrown('request.failed', error, request)
      const { production } = core
      const secrets = Object.values(core.readKeys(request.headers, undefined) ?? {})
      const problem = problemResponse(error, { requestId: state.requestId, production, secrets })
      const answer = await problemError(problem, id)
      return guard?.challenge(answer) ?? answer
    }
  }
}

/** Throws `parse_error` for what is no JSON. */
function asUnparsed(cause: unknown): never {
  if (isServableError(cause) && cause.code !== 'invalid_body') throw cause
  throw new ServableError('parse_error', messageOf(cause), { cause })
}

/**
 * Throws `forbidden` for a host that is not the service's own: a page may have had its own name resolved to this machine (DNS
 * rebinding). Where no hosts are named, that is what a page of this machine, or outside production any page, asks for by a name that
 * is not a loopback name. Programs send no `Origin`.
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

const accepted = (): Answer => new Response(null, { status: 202 })

async function answerMessage(
  message: Message,
  request: Request,
  state: RequestState,
  parts: EndpointParts,
  methods: ReadonlyMap<string, Method>,
): Promise<Answer> {
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

/** The answer of a client to what it was asked on a stream: its id names the run, and what the run has asked. */
async function takeResponse(
  { id, result }: Message,
  request: Request,
  state: RequestState,
  { core, seal }: EndpointParts,
): Promise<Answer> {
  const [, handle = '', key = ''] = /^([^/]+)\/(.*)$/s.exec(String(id)) ?? []
  const runId = await seal.open(handle, { owner: state.owner, tool: '' })
  if (runId === undefined) return accepted()
  const { requests = [], ...record } = await core.host.get(runId, state.owner)
  const { answers, isRefused } = givenTo(requests, { [key]: result ?? { action: 'cancel' } })
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

/** What each method does, by era and name. */
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
  const kept = ({ state }: McpRequest) => ({
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
        ...kept(rpc),
      }),
    ],
    ['modern tools/list', async rpc => ({ ...(await list(rpc)), ...kept(rpc) })],
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
