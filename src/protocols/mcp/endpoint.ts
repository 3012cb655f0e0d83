/**
 * The endpoint: reads a message, determines its era, and answers it.
 *
 * @module
 */

import { isServableError, messageOf, ServableError, shouldLog } from '../../base/errors.ts'
import { deferred, unless } from '../../base/wake.ts'
import type { Endpoint, EndpointResult, RequestState } from '../../http/context.ts'
import { RequestAsker } from '../../http/security/asker.ts'
import { checkPermitOf } from '../../runs/permit.ts'
import { readJson, requireJson } from '../../web/body.ts'
import { askedHost, isAmong } from '../../web/host.ts'
import { LOOPBACK_ADDRESS, LOOPBACK_NAME } from '../../web/ip-address.ts'
import { problemResponse } from '../../web/problem.ts'
import { jsonReply } from '../../web/reply.ts'
import { announced, shownTo, withPages } from './apps.ts'
import { answersTo } from './asking.ts'
import { callTool } from './call.ts'
import { capabilitiesOf, checkHeader, LEGACY, MODERN, own } from './era.ts'
import { clientOf, Listeners, MAX_URIS } from './listening.ts'
import { specOf } from './offer.ts'
import { page, TTL_MS } from './part.ts'
import type { CallContext, Guard, McpIcon, McpPart, McpRequest, Method, Watched } from './request.ts'
import {
  errorReply,
  type Fields,
  type Id,
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  messageIn,
  problemError,
  RESOURCE_NOT_FOUND,
  RpcError,
  type RpcMessage,
} from './rpc.ts'
import { hasRoomFor, SESSION } from './sessions.ts'

/** What the endpoint needs. */
export interface EndpointParts extends CallContext {
  /** The name and version that clients show of the service. */
  readonly info: {
    readonly name: string
    readonly version: string
    readonly title?: string | undefined
    readonly icons?: readonly McpIcon[] | undefined
  }
  readonly instructions: string | undefined
  /** The part with the resources. */
  readonly resources: McpPart | undefined
  readonly allowedHosts: readonly string[] | undefined
  readonly guard: Guard | undefined
}

/** The endpoint's answers to `POST`, and to `GET` of clients before 2026-07-28 that listen. */
export interface Endpoints {
  readonly post: Endpoint
  readonly get: Endpoint
}

/** Makes the endpoint. */
export function mcpEndpoints(parts: EndpointParts): Endpoints {
  const listeners = new Listeners([{ lists: TOOLS }, ...parts.offers.map(({ watched }) => watched)], parts)
  return { post: answering(parts, listeners), get: listening(parts, listeners) }
}

function answering(parts: EndpointParts, listeners: Listeners): Endpoint {
  const { core, guard } = parts
  const methods = methodsOf(parts, listeners)
  return async (request, state) => {
    let id: Id | undefined
    try {
      checkHost(request, state, parts)
      await guard?.check(request, state)
      requireJson(request)
      const message = messageIn(await readJson(request, core.maxBodyBytes).catch(asUnparsed))
      id = message.id
      return await answerMessage(message, request, state, { parts, methods, listeners })
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

/** What answers messages. */
interface Answering {
  readonly parts: EndpointParts
  readonly methods: ReadonlyMap<string, Method>
  readonly listeners: Listeners
}

async function answerMessage(
  message: RpcMessage,
  request: Request,
  state: RequestState,
  { parts, methods, listeners }: Answering,
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
  const { core } = parts
  const rpc: McpRequest = { id, params, request, state, capabilities, answer, core }
  if (method === 'tools/call') {
    state.rpc = { method }
    return callTool(rpc, parts)
  }
  if (method === 'subscriptions/listen' && capabilities !== undefined) {
    state.rpc = { method }
    return (await inTime(rpc, () => listeners.listen(rpc))) ?? accepted()
  }
  const perform = methods.get(`${capabilities === undefined ? 'legacy' : 'modern'} ${method}`)
  if (perform === undefined)
    throw new RpcError(METHOD_NOT_FOUND, 'There is no such method', capabilities === undefined ? 200 : 404)
  state.rpc = { method }
  if (capabilities !== undefined) checkNamed(request, message)
  const performed = await inTime(rpc, async () => perform(rpc, parts))
  if (performed === undefined) return accepted()
  const result = answer(performed)
  const isBegin = method === 'initialize'
  const headers = isBegin ? { [SESSION]: parts.sessions.begin(Object(params.capabilities)) } : {}
  return jsonReply({ jsonrpc: '2.0', id, result }, { headers })
}

/** Does the work, for as long as a run may take. Undefined once the client has left. Throws `run_timeout`. */
async function inTime<T>({ request, core }: McpRequest, work: () => Promise<T>): Promise<T | undefined> {
  const { signal } = request
  const { timeoutMs } = core.runs
  const late = deferred<never>()
  const fail = () =>
    late.reject(new ServableError('run_timeout', `The answer took longer than ${timeoutMs} ms`))
  const timer = setTimeout(fail, timeoutMs)
  try {
    return await unless(signal, () => Promise.race([work(), late.promise]))
  } catch (thrown) {
    if (signal.aborted) return undefined
    throw thrown
  } finally {
    clearTimeout(timer)
  }
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

/** The member of the parameters that the header `Mcp-Name` repeats. */
const NAMED: ReadonlyMap<string | undefined, string> = new Map([
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
])

function checkNamed({ headers }: Request, { method, params }: RpcMessage): void {
  const named = NAMED.get(method)
  if (named !== undefined) checkHeader(headers, 'Mcp-Name', params[named])
}

/** The list of tools, for listeners. */
const TOOLS: Watched['lists'] = {
  toolsListChanged: async (rpc, { offer, sessions }) =>
    shownTo(rpc, await offer.list(), sessions).map(specOf),
}

/** The methods, by era and name. */
function methodsOf(parts: EndpointParts, listeners: Listeners): ReadonlyMap<string, Method> {
  const { info, instructions, offer, tasks, offers, sessions, resources } = parts
  const list = async (rpc: McpRequest) =>
    page('tools', shownTo(rpc, await offer.list(), sessions).map(specOf), rpc)
  const caching = ({ state }: McpRequest) => ({
    ttlMs: TTL_MS,
    cacheScope: state.identity ? 'private' : 'public',
  })
  const capabilities = {
    tools: { listChanged: true },
    ...Object.assign({}, ...offers.map(each => each.capabilities)),
    ...(offers.some(({ completes }) => completes) && { completions: {} }),
  }
  const complete: Method = async rpc => {
    const ref = Object(rpc.params.ref) as Fields
    for (const each of offers) {
      const found = await each.complete(rpc, ref, parts)
      if (found !== undefined) return found
    }
    throw new RpcError(INVALID_PARAMS, '`ref` must be a prompt or a template of this service', 200)
  }
  const settingsOf = ({ request, state }: McpRequest) => sessions.settingsOf(request, clientOf(state))
  const setLevel: Method = rpc => {
    const { level } = rpc.params
    if (!LEVELS.includes(level)) throw new RpcError(INVALID_PARAMS, '`level` must be one of RFC 5424', 200)
    const settings = settingsOf(rpc)
    if (settings !== undefined) settings.logsInfo = LEVELS.indexOf(level) <= LEVELS.indexOf('info')
    return {}
  }
  const subscribing =
    (isOn: boolean): Method =>
    async rpc => {
      const { uri } = rpc.params
      const settings = settingsOf(rpc)
      if (typeof uri !== 'string' || (isOn && (await listeners.version(rpc, uri)) === undefined))
        throw new RpcError(RESOURCE_NOT_FOUND, 'There is no such resource', 200)
      if (isOn && settings && (settings.uris.size >= MAX_URIS || !hasRoomFor(uri, settings)))
        throw new RpcError(INVALID_PARAMS, `A session has at most ${MAX_URIS} subscriptions`, 200)
      if (isOn) settings?.uris.add(uri)
      else settings?.uris.delete(uri)
      return {}
    }
  const hasResources = 'resources' in capabilities
  return new Map<string, Method>([
    [
      'modern server/discover',
      async rpc => ({
        supportedVersions: [MODERN],
        capabilities: await announced(offer.list, {
          ...capabilities,
          ...(tasks && { extensions: tasks.extensions }),
        }),
        instructions,
        ...caching(rpc),
      }),
    ],
    ['modern tools/list', async rpc => ({ ...(await list(rpc)), ...caching(rpc) })],
    ...Object.entries(tasks?.methods ?? {}).map(([name, method]) => [`modern ${name}`, method] as const),
    [
      'legacy initialize',
      async ({ params: { protocolVersion } }) => ({
        protocolVersion: LEGACY.find(each => each === protocolVersion) ?? LEGACY[0],
        capabilities: await announced(offer.list, { ...capabilities, logging: {} }),
        serverInfo: info,
        instructions,
      }),
    ],
    ['legacy ping', () => ({})],
    ['legacy tools/list', list],
    ['legacy logging/setLevel', setLevel],
    ...(hasResources
      ? [
          ['legacy resources/subscribe', subscribing(true)] as const,
          ['legacy resources/unsubscribe', subscribing(false)] as const,
        ]
      : []),
    ...['modern', 'legacy'].flatMap(era => [
      ...[...offers.map(({ methods }) => methods), withPages(offer.list, resources)].flatMap(methods =>
        Object.entries(methods).map(([name, method]) => [`${era} ${name}`, method] as const),
      ),
      ...('completions' in capabilities ? [[`${era} completion/complete`, complete] as const] : []),
    ]),
  ])
}

/** The levels of messages, from the least (MCP, logging; RFC 5424). */
const LEVELS: readonly unknown[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
]

/** The stream of notifications of a session, for clients before 2026-07-28: `GET` of the endpoint. */
function listening(parts: EndpointParts, listeners: Listeners): Endpoint {
  return async (request, state) => {
    checkHost(request, state, parts)
    await parts.guard?.check(request, state)
    const session = request.headers.get(SESSION)
    const takesStream = /text\/event-stream/.test(request.headers.get('accept') ?? '')
    if (!session || !takesStream) {
      const error = new ServableError('method_not_allowed', 'Send messages with `POST`')
      const { production } = parts.core
      const headers = { allow: 'OPTIONS, POST' }
      return problemError(problemResponse(error, { requestId: state.requestId, production, headers }))
    }
    const rpc: McpRequest = {
      ...{ id: '', params: {}, request, state, capabilities: undefined, answer: result => result },
      core: parts.core,
    }
    return listeners.follow(rpc, () => parts.sessions.settings(request)?.uris ?? [])
  }
}
