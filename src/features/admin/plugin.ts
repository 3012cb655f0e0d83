/**
 * The admin routes as a plugin: the entry `servable/admin`.
 *
 * Begin with `routes.ts`, then `object.ts` (tool servers in objects). May import `core` and what is below it, and no other
 * feature.
 *
 * @module
 */

import type { Tool, Toolkit } from '../../agents/tool.ts'
import type { ToolServers } from '../../agents/tool-servers.ts'
import { ServableError } from '../../base/errors.ts'
import { checkOptions } from '../../base/schemas.ts'
import { asPlugin, type Core } from '../../core/built-in.ts'
import { stateFor } from '../../core/no-state.ts'
import type { Plugin } from '../../core/plugin.ts'
import type { Log } from '../../http/log.ts'
import { operatorsGate } from '../../http/security/gate.ts'
import { PART_SCHEMES } from '../../http/security/security-scheme.ts'
import type { Store } from '../../stores/store.ts'
import { describeAdmin } from './describe.ts'
import { createToolServerObject, TOOL_SERVER_SERVICE, toolServersIn } from './object.ts'
import { type AdminOptions, AdminSchema, type AdminSettings, resolveAdmin } from './options.ts'
import { connectToolServers } from './remote-tool-servers.ts'
import { adminPath, adminRoutes, type FindRuns } from './routes.ts'

const NAME = TOOL_SERVER_SERVICE

/** The warning for deployments without authentication. */
const OPEN_WARNING =
  '`admin` has no `authenticate`: it answers whom a role lets in, and outside production requests from this machine, but none from a web ' +
  'page of another origin. To let others in, write ' +
  "`admin: { authenticate: bearerIdentity({ tokens: { [env.ADMIN_TOKEN]: 'admin' } }) }`"

/** Options of the admin routes, and the toolkits that they show. */
export interface AdminPluginOptions extends AdminOptions {
  /** The toolkits that the catalog shows. Default: none. */
  readonly toolkits?: readonly Toolkit[] | undefined
  /** Tools that administrators may call by name, in addition to those of toolkits and tool servers. Default: none. */
  readonly toolLibrary?: Readonly<Record<string, Tool>> | undefined
}

/** Lets administrators manage tool servers (MCP), find runs, and see the toolkits. Throws `invalid_options`. */
export function admin({ toolkits = [], toolLibrary = {}, ...options }: AdminPluginOptions = {}): Plugin {
  checkOptions(NAME, AdminSchema, options)
  const settingsIn = ({ settings }: Core) => resolveAdmin(options, settings)
  return asPlugin({
    name: NAME,
    decidesItself: options.authenticate !== undefined,
    objectServices: {
      index: ({ store }, core) =>
        createToolServerObject(() => openToolServers(settingsIn(core), { store, log: core.log })),
    },
    mount(core) {
      const { prefix, publicUrl, log, maxBodyBytes } = core
      const settings = settingsIn(core)
      const { authenticate } = settings
      return {
        routes: adminRoutes({
          prefix,
          publicUrl,
          settings,
          toolkits,
          toolLibrary,
          maxBodyBytes,
          findRuns: finderOf(core),
          checkServed: core.checkShared('Tool servers need'),
        }),
        base: {
          path: adminPath(prefix),
          guard: operatorsGate(authenticate, OPEN_WARNING, core.settings.production, 'admin'),
        },
        cors: null,
        describe: build => ({
          ...describeAdmin(build),
          ...(authenticate &&
            build.token(PART_SCHEMES.admin, 'Token of an administrator, for `admin.authenticate`')),
        }),
        begin() {
          if (authenticate === undefined) log({ level: 'warn', event: 'admin.open', message: OPEN_WARNING })
          useToolServers(settings, core)
        },
      }
    },
  })
}

function finderOf({ host, mounted }: Core): FindRuns {
  return async ref => {
    const [runs, ...tasks] = await Promise.all([
      host.find(ref),
      ...mounted.map(({ findWork }) => findWork?.(ref) ?? []),
    ])
    return { runs, tasks: tasks.flat() }
  }
}

function useToolServers(settings: AdminSettings, core: Core): void {
  const { manager } = settings
  if (manager === undefined) return
  const state = stateFor(NAME, core.settings.state)
  manager.use(
    state.kind === 'hosted'
      ? connectToolServers(state)
      : openToolServers(settings, { store: state.store, log: core.log }),
  )
}

/**
 * Opens the tool servers of a store. They are connected from this process. Throws `tool_servers_not_configured` without a
 * manager.
 */
export function openToolServers(
  { manager, policy }: AdminSettings,
  { store, log }: { readonly store: Store; readonly log: Log },
): ToolServers {
  if (manager === undefined) {
    throw new ServableError('tool_servers_not_configured', 'There is no tool-server manager')
  }
  return manager.open({
    store: toolServersIn(store),
    policy,
    onChange: ({ status, ...change }) =>
      log({
        level: 'warn',
        event: status === 'connected' ? 'tool_server.back' : 'tool_server.lost',
        ...change,
      }),
  })
}
