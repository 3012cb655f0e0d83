/**
 * A2A as a plugin: the entry `servable/a2a`.
 *
 * Begin with `routes.ts` and `operations.ts`; tasks are in `tasks/`, the wires of protocol versions in `wire/`, cards in
 * `cards/`, push notifications in `push/`. May import `core` and what is below it, `encoders`, and
 * `features/webhooks/delivery`.
 *
 * @module
 */

import * as v from 'valibot'
import type { TellsContext } from '../../agents/transport-context.ts'
import { checkOptions, count, duration, flag, func, path, record, strings } from '../../base/schemas.ts'
import { list } from '../../base/validation.ts'
import { asPlugin, type BuiltInMounted, type Core } from '../../core/built-in.ts'
import { runsInObject } from '../../core/in-object.ts'
import { stateFor } from '../../core/no-state.ts'
import type { Plugin } from '../../core/plugin.ts'
import { type Catalog, createCatalog } from '../../http/catalog.ts'
import { logThrown } from '../../http/failure-log.ts'
import { joinPath } from '../../http/router.ts'
import { resolveSecurity, type SecurityOptions, SecuritySchema } from '../../http/security/security.ts'
import type { EndedRun } from '../../runs/stored/host.ts'
import { refOf } from '../../runs/stored/record.ts'
import { CardSecuritySchemesSchema } from './cards/card-security.ts'
import type { Skill } from './cards/skills.ts'
import { describeA2A } from './describe.ts'
import { type A2AOptions, type A2ASettings, resolveA2A } from './options.ts'
import { a2aRoutes } from './routes.ts'
import { createAskingTasks } from './tasks/asking-tasks.ts'
import { type A2AContext, contextIn } from './tasks/context.ts'
import { forgetTasks } from './tasks/forget-tasks.ts'
import { createLocalTaskHost } from './tasks/local-task-host.ts'
import { createTaskObject } from './tasks/object.ts'
import { createRemoteTaskHost } from './tasks/remote-task-host.ts'
import type { TaskHost, TaskSettings } from './tasks/task-host.ts'
import { TASK_INDEX, TASK_SERVICE } from './tasks/task-index.ts'
import { Tenants } from './tenants.ts'

const NAME = TASK_SERVICE

/** A URI that fits into a header with others: visible ASCII without commas. */
const uri = v.pipe(v.string(), v.regex(/^[!-+\--~]{1,1000}$/, 'must be a URI without spaces and commas'))

const ExtensionsSchema = v.pipe(
  list(
    v.strictObject({
      uri,
      description: v.optional(v.string()),
      required: v.optional(flag),
      params: v.optional(record),
    }),
    100,
  ),
  v.check(
    extensions => new Set(extensions.map(({ uri }) => uri)).size === extensions.length,
    'must name each `uri` once',
  ),
)

const TenantsSchema = v.strictObject({
  authorize: func,
  agents: v.optional(func),
  card: v.optional(func),
  required: v.optional(flag),
})

const OptionsSchema = v.strictObject({
  agents: v.optional(record),
  teams: v.optional(record),
  workflows: v.optional(record),
  extensions: v.optional(ExtensionsSchema),
  tenants: v.optional(TenantsSchema),
  streaming: v.optional(flag),
  basePath: v.optional(path),
  publicUrl: v.optional(
    v.pipe(v.string(), v.check(isAddress, 'must be an address such as https://proxy.example/agents')),
  ),
  provider: v.optional(v.strictObject({ organization: v.string(), url: v.optional(v.string()) })),
  version: v.optional(v.string()),
  name: v.optional(v.string()),
  description: v.optional(v.string()),
  default: v.optional(v.string()),
  cardForm: v.optional(v.picklist(['hybrid', '1.0'], "must be 'hybrid' or '1.0'")),
  securitySchemes: v.optional(CardSecuritySchemesSchema),
  security: v.optional(SecuritySchema),
  documentationUrl: v.optional(v.string()),
  iconUrl: v.optional(v.string()),
  inputModes: v.optional(strings),
  outputModes: v.optional(strings),
  listAnonymous: v.optional(flag),
  maxBodyBytes: v.optional(count),
  maxHistory: v.optional(count),
  maxTasksPerOwner: v.optional(count),
  extendedCard: v.optional(
    v.strictObject({
      authenticate: func,
      challenge: v.optional(v.string()),
      agents: v.optional(strings),
      card: v.optional(v.union([func, record], 'must be an object or a function')),
    }),
  ),
  sign: v.optional(func),
  push: v.optional(
    v.union(
      [
        v.boolean(),
        v.strictObject({
          allow: v.optional(strings),
          secret: v.optional(v.string()),
          timeoutMs: v.optional(duration),
          maxTries: v.optional(count),
          retryMs: v.optional(duration),
          maxRetryMs: v.optional(duration),
        }),
      ],
      'must be true, false or an object of options',
    ),
  ),
})

export type { A2AContext } from './tasks/context.ts'

/**
 * Offers agents to other agents over A2A. Throws `invalid_options`. In an agent, `contextOf(a2a, context)` returns the
 * {@link A2AContext} of its message.
 */
export const a2a: ((options?: A2AOptions) => Plugin) & TellsContext<A2AContext> =
  /* @__PURE__ */ Object.assign((options: A2AOptions = {}) => a2aOf(options, {}), { contextIn })

/** The same plugin, with the security schemes of the whole service. */
export function a2aOf(options: A2AOptions, security: SecurityOptions): Plugin {
  checkOptions(NAME, OptionsSchema, options)
  const settingsIn = ({ settings }: Core) => resolveA2A(options, resolveSecurity(security, settings))
  return asPlugin({
    name: NAME,
    transactions: { [NAME]: TASK_INDEX },
    objectServices: {
      run(context, core) {
        const settings = settingsIn(core)
        const tasks = taskSettingsOf(settings, { ...core, runs: runsInObject(core) })
        const record = core.runs.store === 'all' ? (run: EndedRun) => core.host.record(run) : undefined
        return createTaskObject(context, {
          settings: { ...tasks, record },
          agents: offeredBy(settings, core.catalog),
        })
      },
    },
    mount: core => mountA2A(settingsIn(core), core),
  })
}

/** The agents, teams and workflows that A2A offers: those of its options, or else all that the handler serves. */
export function offeredBy(settings: Pick<A2ASettings, Named>, served: Catalog): Catalog {
  const { agents, teams, workflows } = settings
  const isNamed = agents !== undefined || teams !== undefined || workflows !== undefined
  return isNamed ? createCatalog({ agents, teams, workflows, registry: undefined }) : served
}

type Named = 'agents' | 'teams' | 'workflows'

/** The settings that apply to every task. */
export function taskSettingsOf(
  { maxTasksPerOwner, maxHistory, push }: A2ASettings,
  { runs, host, log }: Pick<Core, 'runs' | 'host' | 'log'>,
): TaskSettings {
  return {
    ...runs,
    maxTasksPerOwner,
    maxHistory,
    push,
    line: host.line,
    onGivenUp: ({ id, owner }, why) =>
      log({
        level: 'warn',
        event: 'push.given_up',
        taskId: refOf(id, owner),
        message: `The webhook gets no more notifications: ${why}`,
      }),
  }
}

/** Whether a text is an address to which paths can be added. */
function isAddress(text: string): boolean {
  const { protocol = '', search, hash, username, password } = URL.canParse(text) ? new URL(text) : {}
  return (
    /^https?:$/.test(protocol) &&
    !text.endsWith('/') &&
    !(search || hash || username || password) &&
    !/[?#]/.test(text)
  )
}

function mountA2A(settings: A2ASettings, core: Core): BuiltInMounted {
  const { production, publicUrl, readKeys, openStream, checkShared } = core
  const agents = offeredBy(settings, core.catalog)
  const host = taskHostOf(settings, core, agents)
  const { basePath } = settings
  if (core.runs.turns !== undefined)
    core.runs.turns.cancel = async (taskId, viewer) => {
      for (const { tenant } of await host.find(taskId)) await host.cancel(taskId, { owner: viewer, tenant })
    }
  const { line } = core.host
  if (line !== undefined) {
    line.tasks = {
      start: (id, runId) => host.startQueued(id, runId),
      end: (id, runId, event) => host.endQueued(id, runId, event),
    }
  }
  const { approvals } = core.runs
  if (approvals !== undefined) {
    const tenants = new Tenants(settings.tenants)
    const report = (error: unknown) => logThrown(core.log, { event: 'approvals.failed' }, error)
    approvals.tasks = createAskingTasks(host, (...asked) => tenants.mayUse(...asked, report))
  }
  return {
    routes: a2aRoutes({
      settings,
      agents,
      host,
      approvals,
      permit: core.runs.permit,
      readKeys,
      production,
      publicUrl: settings.publicUrl ?? publicUrl,
      countStream: openStream,
      checkServed: checkShared('A2A needs'),
    }),
    links: { card: '/.well-known/agent-card.json', a2a: joinPath(basePath) },
    findWork: ref => host.find(ref),
    forget: what => forgetTasks(host, what),
    forgetRuns: what => forgetTasks(host, what),
    describe: build => describeA2A(settings, build),
    close: () => host.close?.(),
  }
}

function taskHostOf(settings: A2ASettings, core: Core, agents: Catalog): TaskHost {
  const state = stateFor(NAME, core.settings.state)
  if (state.kind === 'hosted') return createRemoteTaskHost(state)
  const targetOf = ({ kind, name }: Skill) => agents.resolve(kind, name)
  const tasks = { ...taskSettingsOf(settings, core), lists: core.runs.store === 'all' }
  const host = createLocalTaskHost({ ...state, settings: tasks, targetOf })
  // Tasks in a store or in objects may be left over from an earlier process.
  core.life.atBeginning(() => void host.resume?.())
  core.life.regularly(() => void host.lookAfter?.())
  return host
}
