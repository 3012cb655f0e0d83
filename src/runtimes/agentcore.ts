/**
 * Amazon Bedrock AgentCore Runtime: the paths of its HTTP, AG-UI, MCP and A2A contracts, in front of a handler.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import { coreOf, type Handler } from '../core/handler.ts'
import { joinPath, pathnameOf } from '../http/router.ts'
import { acceptsEvents } from '../http/runs/run-request.ts'
import { readJson, requireJson } from '../web/body.ts'
import { problemResponse } from '../web/problem.ts'
import { inPlaceOf } from './in-place-of.ts'
import { checkHandler } from './server.ts'

/** What AgentCore cannot know of a service. */
export interface AgentCoreOptions {
  /** What `/invocations` runs: the name of an agent, or `team/NAME` or `workflow/NAME`. Default: the only agent. */
  readonly agent?: string
  /** What `/invocations` takes: JSON of servable's own interface, or a run of AG-UI, which needs the plugin `agUi()`. Default: `http`. */
  readonly protocol?: 'http' | 'ag-ui'
}

/** The core of a handler. */
type Core = NonNullable<ReturnType<typeof coreOf>>

/** The header with the session that AgentCore has given a machine of its own. */
const SESSION = 'x-amzn-bedrock-agentcore-runtime-session-id'

/** Paths of AgentCore, with the name of the plugin's link whose path it is here. */
const LINKS: Readonly<Record<string, string>> = { '/ws': 'socket', '/mcp': 'mcp' }

/** The path of each kind below the prefix, by the name before the slash of `agent`. */
const KINDS: Readonly<Record<string, string>> = { agent: 'agents', team: 'teams', workflow: 'workflows' }

/**
 * Gives a handler the paths that AgentCore calls: `GET /ping`, `POST /invocations` (JSON, or server-sent events if `Accept` asks for them),
 * `/ws` for the event socket, and `/mcp`. A2A is at `/` and needs nothing of this. All other paths are the handler's. `/ping` says
 * `HealthyBusy` while runs are at work, so that AgentCore lets the machine live. The session of AgentCore's header is the `sessionId` of
 * the run. A body may name its input `prompt`. Throws `invalid_options`.
 *
 * @example
 * await serve(agentCore(handler), { port: 8080, hostname: '0.0.0.0' })
 */
export function agentCore<H extends Handler>(handler: H, options: AgentCoreOptions = {}): H {
  checkHandler(handler, 'agentCore', 'agentCore(createHandler({ agents: { … } }))')
  const core = coreOf(handler)
  if (core === undefined) throw wrong('give the handler itself, and not a function around it')
  const { agent, protocol } = checked(options)
  const pong = createPong(core)
  const invoked = async (request: Request) => {
    const { headers } = request
    const target = joinPath(core.prefix, pathOf(agent ?? onlyAgentOf(core)))
    const session = headers.get(SESSION) ?? undefined
    if (protocol === 'ag-ui') return movedTo(request, joinPath(target, 'ag-ui'))
    // The route says which methods it has.
    if (request.method !== 'POST') return movedTo(request, joinPath(target, 'run'))
    requireJson(request)
    const body = runBodyOf(await readJson(request, core.maxBodyBytes), session)
    return movedTo(request, joinPath(target, acceptsEvents(headers) ? 'stream' : 'run'), body)
  }
  const moved = (request: Request, path: string): Request | Promise<Request> => {
    if (path === '/invocations') return invoked(request)
    const link = LINKS[path]
    const to = link && core.mounted.find(({ links }) => links?.[link])?.links?.[link]
    return to === undefined || to === path ? request : movedTo(request, to)
  }
  const answer = async (request: Request, platform?: unknown): Promise<Response> => {
    const path = pathnameOf(request.url)
    if (path === '/ping') return pong()
    try {
      return await handler(await moved(request, path), platform)
    } catch (error) {
      return problemResponse(error, { requestId: crypto.randomUUID(), production: core.production })
    }
  }
  // A server asks the handler that it serves for its runs at work, and for its state.
  return Object.assign(answer, handler) as unknown as H
}

/** Makes the answer to `/ping`: the state, and since when it is that, in seconds since 1970. */
function createPong({ working }: Core): () => Response {
  let status: string | undefined
  let since = 0
  return () => {
    const now = working.size > 0 ? 'HealthyBusy' : 'Healthy'
    if (now !== status) {
      status = now
      since = Math.floor(Date.now() / 1000)
    }
    return Response.json({ status, time_of_last_update: since }, { headers: { 'cache-control': 'no-store' } })
  }
}

/** The path of `NAME`, `team/NAME` or `workflow/NAME` below the prefix. */
function pathOf(target: string): string {
  const [kind = '', name] = target.includes('/') ? target.split(/\/(.*)/s) : ['agent', target]
  const folder = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined
  if (folder === undefined || !name) throw wrong('`agent` must be a name, `team/NAME` or `workflow/NAME`')
  return `${folder}/${encodeURIComponent(name)}`
}

function onlyAgentOf({ catalog }: Core): string {
  const [only, ...others] = catalog.entries('agent')
  if (only !== undefined && others.length === 0) return only.name
  throw new ServableError('not_found', 'Say which agent `/invocations` runs: `agentCore(handler, { agent })`')
}

/** The body of servable's own interface. Throws `invalid_body`. */
function runBodyOf(body: unknown, session: string | undefined): string {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new ServableError('invalid_body', 'The body must be an object')
  const { prompt, input = prompt, sessionId = session, ...rest } = body as Record<string, unknown>
  if (prompt !== undefined && input !== prompt)
    throw new ServableError('invalid_body', 'Give `prompt` or `input`, and not both')
  if (session !== undefined && sessionId !== session)
    throw new ServableError(
      'invalid_body',
      '`sessionId`: leave it out, since the session of AgentCore counts',
    )
  return JSON.stringify({ ...rest, input, sessionId })
}

/** The request at another path, with another body if one is given. */
function movedTo(request: Request, path: string, body?: string): Request {
  const url = new URL(request.url)
  url.pathname = path
  const headers = new Headers(request.headers)
  if (body !== undefined) headers.delete('content-length')
  return inPlaceOf(request, url, headers, body)
}

function checked({ agent, protocol = 'http', ...others }: AgentCoreOptions): AgentCoreOptions {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw wrong(`\`${unknown}\` is not an option: use \`agent\` and \`protocol\``)
  if (protocol !== 'http' && protocol !== 'ag-ui') throw wrong("`protocol` must be 'http' or 'ag-ui'")
  if (agent !== undefined) {
    if (typeof agent !== 'string') throw wrong('`agent` must be a name, `team/NAME` or `workflow/NAME`')
    pathOf(agent)
  }
  return { protocol, ...(agent !== undefined && { agent }) }
}

function wrong(what: string): ServableError {
  return new ServableError('invalid_options', `agentCore: ${what}`)
}
