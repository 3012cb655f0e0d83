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
import { againRoutes } from '../http/routes/again-routes.ts'
import { answerRoute } from '../http/routes/answer-route.ts'
import { healthRoute } from '../http/routes/health-route.ts'
import { indexRoute, linkHeader, linksTo } from '../http/routes/index-route.ts'
import { type ListParts, listRoutes } from '../http/routes/list-routes.ts'
import { runRoutes } from '../http/routes/run-routes.ts'
import { storedRunRoutes } from '../http/routes/stored-run-routes.ts'
import { withNoAddress } from '../http/security/no-address.ts'
import { checkScopes } from '../http/security/scopes.ts'
import { withLife } from '../runs/life.ts'
import { peerAddress } from '../web/ip-address.ts'
import type { Core, MountedPlugin } from './built-in.ts'
import { checkPlaces } from './check-plugins.ts'
import { createCore } from './core.ts'
import type { CoreOptions } from './options.ts'

/**
 * Answers a request. The second argument is for the entries of the runtimes; anything else in its place, such as
 * what Bun, Deno, Workers and Next pass there, is ignored, so the handler itself can be given to each of them.
 */
export interface Handler<Names extends Served = Served> {
  (request: Request, platform?: unknown): Promise<Response>
  /** What it serves, for the compiler alone: `createClient<typeof handler>` knows its names. It has no value. */
  readonly '~served'?: Names
}

/** What is served by name, as the compiler reads it from options. */
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
 * Makes a handler that serves agents, teams and workflows, and has no part but those that are given as `plugins`. Throws a
 * `ServableError` with code `invalid_options` that names what is wrong. The handler itself never rejects: every failure is a
 * response.
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

/** All routes of a core and its plugins but the first page. */
export function routesOf(core: Core, own: readonly Route[] = coreRoutes(core)): readonly Route[] {
  return [...own, ...core.mounted.flatMap(({ routes = [] }) => routes)]
}

/** Makes the handler of a core. Throws `invalid_options` where plugins collide. */
export function serve<Names extends Served>(core: Core): Handler<Names> {
  const { settings, mounted, log, life } = core
  const own = coreRoutes(core)
  const named = routesOf(core, own)
  checkScopes(named)
  const links = linksTo(namedPaths(core), named)
  const index = hasIndex(core) ? joinPath(core.prefix) : undefined
  const routes = index === undefined ? named : [...named, indexRoute(index, links)]
  checkPlaces(
    [
      ...own,
      // What a plugin of this package offers to administrators stands behind their gate.
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
    fallback: settings.fallback,
    production: settings.production,
    // Where middleware may ask who it is, a page has no credentials: they belong to another name.
    allowedHosts: settings.production && settings.middleware.length > 0 ? undefined : settings.allowedHosts,
    log,
    addressOf: core.addressOf ?? peerAddress,
    logSeat: settings.logSeat,
    link: linkHeader(index, links),
    readKeys: core.readKeys,
    handler: core.callTransactions,
  })
  const lookAfter = () => void core.host.lookAfter?.()
  life.atBeginning(lookAfter)
  life.regularly(lookAfter)
  for (const { begin } of mounted) begin?.()
  const handler = (request: Request, argument?: unknown): Promise<Response> => {
    const { isIsolated = false, keepAlive } = platformOf(argument)
    life.onRequest(isIsolated)
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

/** What every handler serves. */
function coreRoutes(core: Core): Route[] {
  const { settings, prefix, catalog, readKeys, start, host, maxBodyBytes, uploads, openStream, life } = core
  const { listAnonymous } = settings.runs
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
    ...storedRunRoutes({ prefix, host, listAnonymous, countStream, permit: core.runs.permit }),
    answerRoute({ prefix, host, answerRun: core.answer, readKeys, maxBodyBytes, countStream }),
    ...againRoutes({ prefix, host, again: core.again, readKeys, maxBodyBytes, countStream }),
    ...(settings.registry === undefined ? [] : listRoutes(prefix, catalog, listParts(core))),
    healthRoute(prefix, life.isReady),
  ]
}

/** What lists show depends on the plugins. */
function listParts({ prefix, mounted }: Core): ListParts {
  const path = joinPath(prefix, 'agents/:name/corrections')
  return {
    toJsonSchema: mounted.find(({ plugin }) => plugin.toJsonSchema)?.plugin.toJsonSchema,
    hasCorrections: mounted.some(({ routes = [] }) => routes.some(route => route.path === path)),
  }
}

/** Whether there is an index of what is mounted: it takes the place of no plugin's route, nor of the host's own page. */
export function hasIndex({ prefix, settings: { fallback }, mounted }: Core): boolean {
  const path = joinPath(prefix)
  const isTaken = mounted.some(({ routes }) =>
    routes?.some(each => each.method === 'GET' && each.path === path),
  )
  return !isTaken && (path !== '/' || fallback === undefined)
}

/** What the index tells of, where it is mounted. */
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

/** Outside in: plugins that come before all else, the deployment's middleware, the plugins' own, their guards. */
function middlewareOf({ settings, mounted }: Core): Middleware[] {
  const given = <T>(values: readonly (T | undefined)[]) => values.filter(value => value !== undefined)
  return [
    ...given(mounted.map(({ outer }) => outer)),
    ...settings.middleware,
    ...given(mounted.map(({ middleware }) => middleware)),
    ...given(mounted.map(guardOf)),
  ]
}

/** The guard of what is below a plugin's path. */
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

/** The core of a handler; undefined where it is other code's, such as a function around a handler. */
export function coreOf(handler: object): Core | undefined {
  return (handler as { readonly [CORE]?: Core })[CORE]
}
