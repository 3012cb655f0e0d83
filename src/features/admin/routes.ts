/**
 * `/admin/mcp`, `/admin/runs`, `/admin/tools` and `/admin/toolkits`. Each operation is logged, and emitted on the manager's event
 * bus.
 *
 * @module
 */

import type { AdminPayload } from '../../agents/bus.ts'
import type { Toolkit } from '../../agents/tool.ts'
import type { ToolServer, ToolServerDefinition, ToolServers } from '../../agents/tool-servers.ts'
import { reportError, ServableError } from '../../base/errors.ts'
import type { RequestState, Route } from '../../http/context.ts'
import { joinPath } from '../../http/router.ts'
import { withoutTitle } from '../../http/runs/shown-to.ts'
import { hasRight } from '../../http/security/gate.ts'
import { readJson, requireJson } from '../../web/body.ts'
import { plain } from '../../web/plain.ts'
import { jsonReply, type Reply } from '../../web/reply.ts'
import type { AdminSettings } from './options.ts'
import { type CallableTools, toolCaller } from './tool-call.ts'
import { getToolkit, listToolkits } from './toolkit-catalog.ts'

/** The parts of the routes. */
export interface AdminRoutesOptions {
  readonly prefix: string
  /** The service's origin, if the requests' is another. */
  readonly publicUrl: string | undefined
  readonly settings: AdminSettings
  readonly toolkits: readonly Toolkit[]
  /** Tools by name, which are called as well. */
  readonly toolLibrary: CallableTools['toolLibrary']
  readonly maxBodyBytes: number
  /** Finds stored runs and tasks by the reference in the log. */
  readonly findRuns: FindRuns
  /** Throws `unsupported_operation` if this request cannot reach lasting tool servers. */
  readonly checkServed: (state: RequestState) => void
}

/** A stored run that was found. */
interface FoundRun {
  readonly owner: string | null
  readonly title?: string | undefined
}

/** Returns the stored runs and tasks that a reference in the log may refer to. */
export type FindRuns = (
  ref: string,
) => Promise<{ readonly runs: readonly FoundRun[]; readonly tasks: readonly object[] }>

/** Most bytes of a tool server's definition. */
const MAX_DEFINITION = 262_144

/** Most characters of an id or a name in the log. A client may send any length. */
const MAX_SHOWN = 100

/** The object of an operation: an id and a name. */
type Subject = Pick<AdminPayload, 'id' | 'name'>

/** Performs an operation. It calls `about` with the object of the operation, once that is known. */
type Act = (
  request: Request,
  id: string,
  about: (subject: Subject) => void,
  state: RequestState,
) => unknown | Promise<unknown>

interface Operation {
  readonly method: Route['method']
  readonly path: string
  readonly action: string
  readonly status?: number
  /** Whether the operation changes something. */
  readonly changes?: boolean
  readonly act: Act
}

/** The path of the admin routes. */
export function adminPath(prefix: string): string {
  return joinPath(prefix, 'admin')
}

/** The admin routes. The guard before them authenticates. */
export function adminRoutes(options: AdminRoutesOptions): Route[] {
  const { prefix, settings } = options
  return operationsOf(options).map(operation => ({
    method: operation.method,
    path: joinPath(adminPath(prefix), operation.path),
    part: 'admin',
    decidesItself: settings.authenticate !== undefined,
    endpoint: (request, state) => perform(operation, request, state, options),
  }))
}

function operationsOf(options: AdminRoutesOptions): Operation[] {
  return [...serverOperations(options), ...runOperations(options), ...toolOperations(options)]
}

/** The operations on tool servers. */
function serverOperations({ settings, maxBodyBytes, prefix, publicUrl }: AdminRoutesOptions): Operation[] {
  const mcp = 'mcp/:id'
  const onServer =
    (work: (servers: ToolServers, id: string) => Promise<ToolServer>): Act =>
    async (_, id, about) => {
      about({ id })
      const server = await work(serversOf(settings), id)
      about(server)
      return server
    }
  const change = (
    method: Route['method'],
    path: string,
    action: string,
    work: 'remove' | 'connect' | 'disconnect',
  ): Operation => ({
    ...{ method, path, action, changes: true },
    act: onServer((servers, id) => servers[work](id)),
  })
  const add: Act = async (request, _, about) => {
    const servers = serversOf(settings)
    requireJson(request)
    const body = await readJson(request, Math.min(maxBodyBytes, MAX_DEFINITION))
    // `add` checks the definition.
    const server = await servers.add(body as ToolServerDefinition)
    about(server)
    return server
  }
  const tools: Act = async (_, id, about) => {
    about({ id })
    return serversOf(settings).tools(id)
  }
  const signIn: Act = async (request, id, about, state) => {
    about({ id })
    const origin = publicUrl ?? new URL(request.url).origin
    const redirectUri = `${origin}${joinPath(adminPath(prefix), 'sign-in')}`
    return serversOf(settings).signIn(id, { who: whoOf(state), redirectUri })
  }
  const endSignIn: Act = async (request, _, about, state) => {
    const { searchParams } = new URL(request.url)
    const given = (name: string) => searchParams.get(name) ?? undefined
    const answer = { code: given('code'), error: given('error'), iss: given('iss'), who: whoOf(state) }
    const server = await serversOf(settings).endSignIn({ state: given('state') ?? '', ...answer })
    about(server)
    return server
  }
  return [
    { method: 'GET', path: 'mcp', action: 'list_servers', act: () => serversOf(settings).list() },
    { method: 'POST', path: 'mcp', action: 'add_server', status: 201, changes: true, act: add },
    { method: 'GET', path: mcp, action: 'get_server', act: onServer((servers, id) => servers.get(id)) },
    change('DELETE', mcp, 'remove_server', 'remove'),
    change('POST', `${mcp}/connect`, 'connect_server', 'connect'),
    change('POST', `${mcp}/disconnect`, 'disconnect_server', 'disconnect'),
    { method: 'GET', path: `${mcp}/tools`, action: 'list_server_tools', act: tools },
    { method: 'POST', path: `${mcp}/sign-in`, action: 'begin_sign_in', changes: true, act: signIn },
    { method: 'GET', path: 'sign-in', action: 'sign_in', changes: true, act: endSignIn },
  ]
}

/** The search for the run or task of an id. */
function runOperations({ findRuns, settings }: AdminRoutesOptions): Operation[] {
  const find: Act = async (_, id, about, state) => {
    about({ id })
    const { runs, tasks } = REFERENCE.test(id) ? await findRuns(id) : { runs: [], tasks: [] }
    // A title is a piece of the input, which a role may have no right to read.
    const isOfRole = hasRight(state, 'admin', settings.authenticate !== undefined)
    const shown = (run: FoundRun) =>
      isOfRole && !state.may('read_input', run.owner) ? withoutTitle(run) : run
    const found = { runs: runs.map(shown), tasks }
    if (found.runs.length + found.tasks.length > 0) return found
    throw new ServableError('run_not_found', 'No stored run or task has this id. Plain runs are never stored')
  }
  return [{ method: 'GET', path: 'runs/:id', action: 'find_runs', act: find }]
}

/** The operations on tools and toolkits. */
function toolOperations({ settings, toolkits, toolLibrary, maxBodyBytes }: AdminRoutesOptions): Operation[] {
  const callTool = toolCaller({ toolkits, toolLibrary, manager: settings.manager })
  const call: Act = async (request, name, about, state) => {
    about({ name })
    requireJson(request)
    return callTool(name, await readJson(request, maxBodyBytes), request, state)
  }
  const get: Act = (_, id, about) => {
    const toolkit = getToolkit(toolkits, id)
    about(toolkit)
    return toolkit
  }
  return [
    { method: 'POST', path: 'tools/:id/call', action: 'call_tool', changes: true, act: call },
    { method: 'GET', path: 'toolkits', action: 'list_toolkits', act: () => listToolkits(toolkits) },
    { method: 'GET', path: 'toolkits/:id', action: 'get_toolkit', act: get },
  ]
}

/** A full id, or the beginning that the log shows for a run without an owner. */
const REFERENCE = /^[\da-f]{8}(-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12})?$/

/** The administrator, as no role can change it. */
function whoOf({ identity }: RequestState): string | null {
  return identity?.id ?? null
}

function serversOf({ manager }: AdminSettings): ToolServers {
  if (manager !== undefined) return manager.servers
  throw new ServableError(
    'tool_servers_not_configured',
    "There are no tool servers to manage: write `admin: { manager: new ToolServerManager() }`, from 'servable/mcp-client'",
  )
}

async function perform(
  { path, action, status = 200, changes = false, act }: Operation,
  request: Request,
  state: RequestState,
  { settings: { manager }, checkServed }: AdminRoutesOptions,
): Promise<Reply> {
  let subject: Subject = {}
  const report = (outcome: string) => {
    const { id, name } = subject
    const payload: AdminPayload = {
      action,
      outcome,
      who: state.owner === null ? null : plain(state.owner),
      requestId: state.requestId,
      ...(id !== undefined && { id: plain(id.slice(0, MAX_SHOWN)) }),
      ...(name !== undefined && { name: plain(name.slice(0, MAX_SHOWN)) }),
    }
    // Changes are logged as warnings, because the default log shows nothing below.
    state.log({ level: changes ? 'warn' : 'info', event: 'admin.act', ...payload })
    manager?.events.emit('admin.act', payload)
  }
  try {
    if (/^(mcp|sign-in)/.test(path)) checkServed(state)
    const tellAbout = (about: Subject) => {
      subject = about
    }
    const answer = await act(request, state.params.id ?? '', tellAbout, state)
    report('ok')
    return jsonReply(answer, { status, headers: { 'cache-control': 'no-store' } })
  } catch (error) {
    report(reportError(error, true, 'internal_error').code)
    throw error
  }
}
