/**
 * Joins the core and its plugins into one pure `(Request) => Promise<Response>`.
 *
 * @module
 */

import type { Servable } from '../agents/contract.ts'
import type { Nothing, Served, ServedOf } from '../agents/served.ts'
import type { Middleware, Route } from '../http/context.ts'
import { createDispatch } from '../http/dispatch.ts'
import { withDrain } from '../http/drain.ts'
import { platformOf } from '../http/platform.ts'
import { createMatcher, isBelow, joinPath, pathnameOf } from '../http/router.ts'
import { healthRoute } from '../http/routes/health-route.ts'
import { indexRoute, linkHeader, linksTo } from '../http/routes/index-route.ts'
import { type ListParts, listRoutes } from '../http/routes/list-routes.ts'
import { runRoutes } from '../http/routes/run-routes.ts'
import { withNoAddress } from '../http/security/no-address.ts'
import { checkScopes } from '../http/security/scopes.ts'
import { tokenMover } from '../http/security/token-header.ts'
import { withLife } from '../runs/life.ts'
import { peerAddress } from '../web/ip-address.ts'
import type { Core, MountedPlugin } from './built-in.ts'
import { checkPaths } from './check-plugins.ts'
import { createCore } from './core.ts'
import type { CoreOptions } from './options.ts'

/**
 * Answers a request. The second argument is for the entries of the runtimes; anything else in its place, such as
 * what Bun, Deno, Workers and Next pass there, is ignored, so the handler itself can be given to each of them.
 */
export interface Handler<Names extends Served = Served> {
  (request: Request, platform?: unknown): Promise<Response>
  /** The served names, for the compiler only: `createClient<typeof handler>` reads them. It has no value. */
  readonly '~served'?: Names
}

/** The served names, as the compiler reads them from options. */
export type ServedBy<Agents, Teams, Workflows, List extends readonly unknown[]> = {
  readonly agents: ServedOf<'agent', Agents, List>
  readonly teams: ServedOf<'team', Teams, List>
  readonly workflows: ServedOf<'workflow', Workflows, List>
}

/** Options whose explicit entries the compiler remembers. */
export interface NamedOptions<Agents, Teams, Workflows, List> {
  readonly agents?: Agents
  readonly teams?: Teams
  readonly workflows?: Workflows
  readonly serve?: List
}

/**
 * Makes a handler that serves agents, teams and workflows. It has only the parts given as `plugins`. Throws a `ServableError`
 * with code `invalid_options` that names the wrong option. The handler itself never rejects: every failure is a response.
 *
 * @example
 * export default { fetch: createHandler({ agents: { echo }, plugins: [a2a()] }) }
 */
export function createHandler<
  const Agents extends CoreOptions['agents'] = Nothing,
  const Teams extends CoreOptions['teams'] = Nothing,
  const Workflows extends CoreOptions['workflows'] = Nothing,
  const List extends readonly Servable[] = readonly [],
>(
  options: CoreOptions & NamedOptions<Agents, Teams, Workflows, List> = {},
): Handler<ServedBy<Agents, Teams, Workflows, List>> {
  return serve(createCore(options))
}

/** All routes of a core and its plugins, except the index page. */
export function routesOf(core: Core, own: readonly Route[] = coreRoutes(core)): readonly Route[] {
  return [...own, ...core.mounted.flatMap(({ routes = [] }) => routes)]
}

/** Makes the handler of a core. Throws `invalid_options` if plugins collide. */
export function serve<Names extends Served>(core: Core): Handler<Names> {
  const { settings, mounted, log, life } = core
  const own = coreRoutes(core)
  const named = routesOf(core, own)
  checkScopes(named)
  const links = linksTo(namedPaths(core), named)
  const index = hasIndex(core) ? joinPath(core.prefix) : undefined
  const routes = index === undefined ? named : [...named, indexRoute(index, links)]
  checkPaths(
    [
      ...own,
      // Admin routes of this package's plugins are behind the guard of the admin plugin.
      ...mounted.flatMap(({ name, routes = [] }) =>
        routes.map(route => ({ ...route, owner: route.part === 'admin' ? 'admin' : name })),
      ),
    ],
    mounted.flatMap(({ name: owner, base }) => (base?.guard ? [{ owner, path: base.path }] : [])),
  )
  const bases = mounted.flatMap(({ name, base, cors }) =>
    base === undefined ? [] : [{ ...base, part: name, ...(cors !== undefined && { cors }) }],
  )
  const dispatch = createDispatch({
    find: createMatcher(routes, bases),
    middleware: middlewareOf(core),
    cors: core.cors,
    publicUrl: settings.publicUrl,
    locals: core.locals,
    fallback: settings.fallback,
    production: settings.production,
    // With middleware, which may authenticate, hosts are not checked in production: a page under another host name has no
    // credentials.
    allowedHosts: settings.production && settings.middleware.length > 0 ? undefined : settings.allowedHosts,
    log,
    addressOf: core.addressOf ?? peerAddress,
    requestLog: settings.logBinding,
    link: linkHeader(index, links),
    readKeys: core.readKeys,
    roles: settings.roles,
    handler: core.callTransactions,
  })
  const headers = mounted.flatMap(({ base: { path, tokenHeader } = {} }) =>
    path === undefined || tokenHeader === undefined ? [] : [{ path, tokenHeader }],
  )
  const moveToken = headers.length === 0 ? undefined : tokenMover(headers, settings.middleware)
  const lookAfter = () => void core.host.lookAfter?.()
  life.atBeginning(lookAfter)
  life.regularly(lookAfter)
  for (const { begin } of mounted) begin?.()
  const handler = (request: Request, argument?: unknown): Promise<Response> => {
    const { isIsolated = false, keepAlive } = platformOf(argument)
    life.onRequest(isIsolated)
    moveToken?.(request)
    const response = dispatch(request, argument)
    return keepAlive === undefined ? response : keptAlive(response, keepAlive)
  }
  const keptAlive = async (answer: Promise<Response>, keepAlive: (promise: Promise<unknown>) => void) => {
    const response = await answer
    if (core.working.size > 0) keepAlive(core.working.finished())
    return response
  }
  const drain = (graceMs: number) => {
    life.rest()
    return core.working.drain(graceMs)
  }
  if (core.addressOf === undefined) withNoAddress(handler, core.onNoAddress)
  return withCore(withDrain(withLife(handler, life), drain), core)
}

/** The routes of every handler. */
function coreRoutes(core: Core): Route[] {
  const { settings, prefix, catalog, readKeys, start, host, maxBodyBytes, uploads, openStream, life } = core
  const countStream = openStream
  return [
    ...runRoutes({
      prefix,
      catalog,
      readKeys,
      startRun: start,
      host,
      maxBodyBytes,
      readUpload: uploads,
      countStream,
    }),
    ...(settings.state.kind === 'none'
      ? []
      : settings.state.storedRuns.routes({
          ...core,
          listAnonymous: settings.runs.listAnonymous,
          permit: core.runs.permit,
        })),
    ...(settings.registry === undefined ? [] : listRoutes(prefix, catalog, listParts(core))),
    healthRoute(prefix, life.isReady),
  ]
}

/** The parts of lists that depend on the plugins. */
function listParts({ prefix, mounted, runs }: Core): ListParts {
  const path = joinPath(prefix, 'agents/:name/corrections')
  return {
    toJsonSchema: mounted.find(({ plugin }) => plugin.toJsonSchema)?.plugin.toJsonSchema,
    brake: runs.brake,
    hasCorrections: mounted.some(({ routes = [] }) => routes.some(route => route.path === path)),
  }
}

/** Whether the handler has an index. It replaces no route of a plugin and no page of the host. */
export function hasIndex({ prefix, settings: { fallback }, mounted }: Core): boolean {
  const path = joinPath(prefix)
  const isTaken = mounted.some(({ routes }) =>
    routes?.some(each => each.method === 'GET' && each.path === path),
  )
  return !isTaken && (path !== '/' || fallback === undefined)
}

/** The paths in the index. */
function namedPaths({ prefix, mounted }: Core): Readonly<Record<string, string>> {
  const at = (...path: string[]) => joinPath(prefix, ...path)
  return {
    ...Object.fromEntries(['agents', 'teams', 'workflows', 'registry'].map(name => [name, at(name)])),
    run: at('agents', ':name', 'run'),
    stream: at('agents', ':name', 'stream'),
    runs: at('runs'),
    health: at('health'),
    ...Object.assign({}, ...mounted.map(({ links }) => links)),
  }
}

/** All middleware from the outside in: that of plugins with `outer`, the deployment's, the plugins' own, their guards. */
function middlewareOf({ settings, mounted }: Core): Middleware[] {
  const given = <T>(values: readonly (T | undefined)[]) => values.filter(value => value !== undefined)
  return [
    ...given(mounted.map(({ outer }) => outer)),
    ...settings.middleware,
    ...given(mounted.map(({ middleware }) => middleware)),
    ...given(mounted.map(guardOf)),
  ]
}

/** The guard of the paths below a plugin's base. */
function guardOf({ base }: MountedPlugin): Middleware | undefined {
  if (base?.guard === undefined) return undefined
  const { path, guard } = base
  return (request, context, next) =>
    isBelow(path, pathnameOf(request.url)) ? guard(request, context, next) : next()
}

const CORE = Symbol.for('servable.core')

function withCore<H extends object>(handler: H, core: Core): H {
  return Object.assign(handler, { [CORE]: core })
}

/** Returns the core of a handler. Undefined for other functions, such as a wrapper around a handler. */
export function coreOf(handler: object): Core | undefined {
  return (handler as { readonly [CORE]?: Core })[CORE]
}
