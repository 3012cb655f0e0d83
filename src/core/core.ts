/**
 * The core of a handler, made once from its options. Requests use it, and so do the Durable Objects of the handler.
 *
 * The door `core` wires a handler. Begin here, then `handler.ts` (routes, guards, middleware), `plugin.ts` (the interface of
 * plugins) and `object-service.ts` (what a plugin does in an object). May import `http` and what is below it, and no plugin.
 *
 * @module
 */

import type { MemoryStorage, SessionStorage } from '../agents/memory.ts'
import { isServableError, messageOf, ServableError } from '../base/errors.ts'
import { createCatalog } from '../http/catalog.ts'
import { type Context, RequestState, type Route, refusing } from '../http/context.ts'
import { logFailure, logThrown } from '../http/failure-log.ts'
import type { Log } from '../http/log.ts'
import { joinPath } from '../http/router.ts'
import { readRunRequest } from '../http/runs/run-request.ts'
import { createStartRun } from '../http/runs/start-run.ts'
import { checkCredentials } from '../http/security/credential.ts'
import { createKeyReader, keyHeaders } from '../http/security/key-headers.ts'
import { createNoAddress } from '../http/security/no-address.ts'
import { CHANGES, scopeOf } from '../http/security/scopes.ts'
import { braked } from '../runs/brake.ts'
import { filterInputBy } from '../runs/input-filter.ts'
import { createLife } from '../runs/life.ts'
import { observeBy } from '../runs/observer.ts'
import { runMiddlewareOf } from '../runs/run-middleware.ts'
import type { HostSettings, RunHost } from '../runs/stored/host.ts'
import { createWorkingRuns } from '../runs/stored/working.ts'
import type { BuiltIn, BuiltInMounted, Core, MountedPlugin } from './built-in.ts'
import { checkMounted } from './check-plugins.ts'
import { GIVE_STATE } from './no-state.ts'
import { type CoreOptions, type CoreSettings, resolveCoreOptions } from './options.ts'
import type { PluginCore } from './plugin.ts'
import { type CallTransactions, callTransactionsIn } from './transaction-calls.ts'

/** The error of a request for a stored run if `runs.store` is `none`. */
export const NOT_STORED = 'Runs are not stored here (`runs.store` is `none`): ask for a plain run'

/** What `checkShared` asks for in its error. */
export const SHARED =
  'a state that requests share: on Workers use `durableState()`, in Next the Node runtime, else `postgresState()`'

/** Checks the options and mounts the plugins. Throws `invalid_options` that names what is wrong. */
export function createCore(options: CoreOptions): Core {
  const settings = resolveCoreOptions(options)
  const { prefix, production, log, publicUrl, providers, state, middleware } = settings
  const plugins = settings.plugins as readonly unknown[] as readonly BuiltIn[]
  checkCredentials(middleware, keyHeaders(providers), plugins)
  const catalog = createCatalog(settings)
  const catalogs = new Map(plugins.map(({ name, catalog: own }) => [name, own?.(catalog)]))
  const catalogOf = (scope = '') => catalogs.get(scope) ?? catalog
  const onStateError = (error: unknown) => logThrown(log, { event: 'state.failed' }, error)
  const alarm = state.kind === 'local' ? state.createAlarm(onStateError) : undefined
  const callTransactions = callTransactionsIn(state, alarm)
  const working = createWorkingRuns()
  const observer = observeBy(observersOf(plugins), tellObserver(log))
  const files = plugins.find(plugin => plugin.files)?.files?.(settings, callTransactions)
  const brake = plugins.find(plugin => plugin.brake)?.brake?.(settings, callTransactions, catalog)
  const stored = state.kind === 'none' ? undefined : state.storedRuns
  const memory = memoryIn(settings, { catalog, callTransactions, plugins, files })
  const runs: HostSettings = {
    ...settings.runs,
    production,
    onFailure: failure => logFailure(log, failure),
    observer,
    working,
    runMiddleware: runMiddlewareOf(plugins.flatMap(({ runMiddleware }) => runMiddleware?.(settings) ?? [])),
    inputFilter: filterInputBy(plugins.flatMap(({ inputFilter }) => inputFilter?.(settings) ?? [])),
    memory,
    files,
    costOf: plugins.findLast(plugin => plugin.costOf)?.costOf,
    targetOf: ({ kind, name, scope }) => catalogOf(scope).resolve(kind, name),
    approvals: plugins.find(plugin => plugin.approvals)?.approvals?.(settings, callTransactions),
    onFree: () => host.onFree?.(),
    turns: {},
    alarm,
    brake,
    admit: braked(brake, plugins.find(plugin => plugin.admit)?.admit?.(settings, callTransactions)),
    permit: plugins.find(plugin => plugin.permit)?.permit?.(settings, callTransactions),
    notices: plugins.find(plugin => plugin.notices)?.notices?.(settings, callTransactions),
  }
  const mounted: MountedPlugin[] = []
  const ownHost = state.createHost(runs)
  const host = plugins.reduce<RunHost>(
    (inner, plugin) => plugin.host?.(inner, { runs, settings, callTransactions }) ?? inner,
    stored?.hostOf(ownHost, catalog, memory) ?? ownHost,
  )
  const whyUnstored = storeCheck(settings)
  const parts = { runs, host, whyUnstored, stored: stored?.starts, catalogOf }
  const start = createStartRun(parts)
  const effects = () => mounted.flatMap(({ withoutAddress }) => withoutAddress ?? [])
  const core: Core = {
    settings,
    prefix,
    production,
    log,
    publicUrl,
    maxBodyBytes: settings.limits.maxBodyBytes,
    maxLength: runs.maxLength,
    storesRuns: isStored(settings),
    catalog,
    catalogOf,
    callTransactions,
    readKeys: createKeyReader(providers),
    runs,
    host,
    start,
    storedStarts: parts.stored,
    answer: stored?.answerRun(parts) ?? noRun,
    again: stored?.runAgain({ ...parts, start }) ?? { resume: noRun, retry: noRun },
    working,
    life: createLife({
      state: state.kind === 'local' ? state : undefined,
      alarm,
      working,
      flush: () => closeAll(mounted, log),
      onError: onStateError,
    }),
    openStream: observer?.openStream,
    cors: plugins.find(plugin => plugin.cors)?.cors?.(keyHeaders(providers)),
    addressOf: plugins
      .find(plugin => plugin.addressOf)
      ?.addressOf?.(error => logThrown(log, { event: 'trust_proxy.failed' }, error)),
    uploads: plugins.find(plugin => plugin.uploads)?.uploads?.(settings),
    sockets: new Set(),
    mounted,
    whyUnstored,
    locals: {},
    checkShared: whatNeeds => refusing(sharedCheck(settings, whatNeeds)),
    onNoAddress: createNoAddress(log, effects),
  }
  for (const plugin of plugins) mounted.push({ ...mount(plugin, core), plugin, name: plugin.name })
  return core
}

/** The error of a run that cannot be stored anywhere. */
async function noRun(): Promise<never> {
  throw new ServableError('run_not_found', 'There is no such run')
}

/** Mounts a plugin. An error that does not name an option gets the plugin's name. */
function mount(plugin: BuiltIn, core: Core): BuiltInMounted {
  const { name } = plugin
  try {
    // Third-party plugins get the public part only, plugins of this package get both.
    const given = checkMounted(plugin.mount?.({ ...core, ...publicPart(core, plugin) }) ?? {})
    const { routes = [], base, ...rest } = given
    const own = { ...(rest.cors !== undefined && { cors: rest.cors }) }
    const basePath = joinPath(base?.path ?? '')
    return {
      ...rest,
      ...(base && { base: { ...base, path: basePath } }),
      routes: routes.map(route => {
        const path = joinPath(route.path)
        const form = base?.toError && `${path}/`.startsWith(`${basePath}/`) && { toError: base.toError }
        const known = partOf(route)
        const part = known ?? name
        // Third-party routes without a scope get that of their method.
        const scope = scopeOf({ ...route, part }) ?? (known === undefined ? CHANGES[route.method] : undefined)
        return { ...own, ...form, ...route, path, part, scope }
      }),
    }
  } catch (cause) {
    if (isServableError(cause) && cause.code === 'invalid_options') throw cause
    const text = `\`plugins\`: \`${name}\` could not be mounted: ${messageOf(cause)}`
    throw new ServableError('invalid_options', text, { cause })
  }
}

/** The part of the core that third-party plugins get besides settings. */
function publicPart(core: Core, { name, kept: own }: BuiltIn): Pick<PluginCore, 'calls' | 'readRun'> {
  const { catalog, maxBodyBytes, uploads: readUpload, callTransactions } = core
  return {
    calls(kept) {
      // Durable Objects know only the `kept` of the plugin.
      if (own === kept) return kept.calls(callTransactions, name)
      throw new TypeError('`core.calls` takes the `kept` of the plugin')
    },
    readRun: (kind, request, context) =>
      readRunRequest(kind, request, stateOf(context), { catalog, maxBodyBytes, readUpload }),
  }
}

/** The request state behind a context. Throws for any other object: it would have no identity and no limits. */
export function stateOf(context: Context): RequestState {
  if (context instanceof RequestState) return context
  throw new ServableError('internal_error', 'Give the `context` that the endpoint got, not a copy of it')
}

/** The part of a route. Routes of third-party plugins have none. */
function partOf({ part }: Partial<Pick<Route, 'part'>>): Route['part'] | undefined {
  return part
}

/** Closes all plugins. An error of one does not prevent the others from closing. */
async function closeAll(mounted: readonly MountedPlugin[], log: Log): Promise<void> {
  await Promise.all(
    mounted.map(async ({ name, close }) => {
      try {
        await close?.()
      } catch (error) {
        logThrown(log, { event: 'plugin.failed', plugin: name }, error)
      }
    }),
  )
}

function observersOf(plugins: readonly BuiltIn[]) {
  return plugins.flatMap(({ name, observer }) => (observer === undefined ? [] : [{ name, observer }]))
}

function tellObserver(log: Log) {
  return (plugin: string, thrown: unknown) => logThrown(log, { event: 'observer.failed', plugin }, thrown)
}

/** The agents' memory in the state. */
function memoryIn(
  settings: CoreSettings,
  {
    catalog,
    callTransactions,
    plugins,
    files,
  }: Pick<Core, 'catalog' | 'callTransactions'> &
    Pick<HostSettings, 'files'> & { readonly plugins: readonly BuiltIn[] },
): MemoryStorage {
  return {
    sessions: isStored(settings) ? sessionsIn(callTransactions, settings, files) : undefined,
    corrections: async () => [],
    servedAs(servable, kind, asked) {
      if (catalog.find(kind, asked)?.servable === servable) return asked
      return catalog.entries(kind).find(entry => entry.servable === servable)?.name
    },
    ...Object.assign({}, ...plugins.map(({ memory }) => memory?.(callTransactions))),
  }
}

/** The sessions of the state; undefined without one. */
function sessionsIn(
  callTransactions: CallTransactions,
  settings: CoreSettings,
  files: HostSettings['files'],
): SessionStorage | undefined {
  const { state } = settings
  if (state.kind === 'none') return undefined
  const { name, createStorage: create, transactions } = state.sessions
  const hold = state.kind === 'hosted' ? state.waitUntil : undefined
  const parts = state.storedRuns.sessionPartsOf(settings)
  return create(callTransactions(name, transactions), { ...parts, hold, files })
}

function isStored({ runs, state }: CoreSettings): boolean {
  return runs.store !== 'none' && state.kind !== 'none'
}

/** Returns a function that says why a request cannot have a stored run. */
function storeCheck(settings: CoreSettings): Core['whyUnstored'] {
  if (settings.state.kind === 'none') return () => `Runs are not stored here: ${GIVE_STATE}`
  return isStored(settings) ? sharedCheck(settings, 'Stored runs need') : () => NOT_STORED
}

/** Returns a function that says why a request cannot have anything that outlives it: no other process would find it. */
function sharedCheck({ state }: CoreSettings, whatNeeds: string): Core['whyUnstored'] {
  const isVolatile = state.kind === 'local' && state.isVolatile
  return request => (isVolatile && request.isIsolated ? `${whatNeeds} ${SHARED}` : undefined)
}
