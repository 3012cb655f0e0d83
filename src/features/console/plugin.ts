/**
 * The console as a plugin: the entry `servable/console`.
 *
 * The page itself is made in the folder `console/` beside `src/`. Here are its files and its configuration. May import `core`
 * and what is below it, and no other feature.
 *
 * @module
 */

import * as v from 'valibot'
import { ServableError } from '../../base/errors.ts'
import { checkOptions, func } from '../../base/schemas.ts'
import { asPlugin, type Core } from '../../core/built-in.ts'
import type { Plugin } from '../../core/plugin.ts'
import type { RequestState, Route } from '../../http/context.ts'
import type { Identity } from '../../http/platform.ts'
import { joinPath } from '../../http/router.ts'
import { isNavigation } from '../../http/security/cross-site.ts'
import { type Authenticate, gate, LOCAL } from '../../http/security/gate.ts'
import { type Login, loggedIn } from '../../http/security/login.ts'
import { asksFirst, asksOf } from '../../http/security/page-credentials.ts'
import { RIGHTS, type Right } from '../../http/security/rights.ts'
import { resolveSecurity } from '../../http/security/security.ts'
import { summaryOf, type ToolSummary } from '../../http/tool-catalog.ts'
import { VERSION } from '../../http/version.ts'
import { contentOf, frameOf, pageNamesOf } from './app-pages.ts'
import { BUILT } from './built.ts'
import { filesOf } from './files.ts'
import { pageOf } from './page.ts'

/**
 * Decides who may use the console. `identity` is the one that the middleware has found. An identity may use it. A response is
 * sent as it is. Undefined or a throw refuses.
 */
export type AuthenticateConsole = (
  request: Request,
  identity: Identity | undefined,
) => ReturnType<Authenticate>

/** Options of the console. */
export interface ConsoleOptions {
  /**
   * Decides who may use the console. Required in production, where the console is off without it. Elsewhere it is optional:
   * without it, only requests from this machine are accepted, except those that a page of another origin sent.
   *
   * @example
   * webConsole({ authenticate: (_, identity) => identity })
   */
  readonly authenticate?: AuthenticateConsole | undefined
  /**
   * Lets users log in with an identity provider: `oidcLogin` of `servable/jwt` makes it. Default: the page asks for a token.
   *
   * @example
   * webConsole({ authenticate: (_, identity) => identity, login: oidcLogin({ issuer, clientId, clientSecret }) })
   */
  readonly login?: Login | undefined
  /** The title of the page, up to 100 characters. Default: `servable`. */
  readonly title?: string | undefined
}

const OptionsSchema = v.strictObject({
  authenticate: v.optional(func),
  login: v.optional(
    v.custom<Login>(login => typeof Object(login).begin === 'function', 'must be made by `oidcLogin`'),
  ),
  title: v.optional(
    v.pipe(
      v.string(),
      v.minLength(1, 'must not be empty'),
      v.maxLength(100, 'must have 100 characters at most'),
    ),
  ),
})

const NAME = 'console'

const HOW =
  'To let in everyone whom your middleware knows, write `webConsole({ authenticate: (_, identity) => identity })`'
const OFF = `\`webConsole\` is off in production, since it has no \`authenticate\`. ${HOW}`
const OWN_MACHINE = `\`webConsole\` has no \`authenticate\`: it answers only requests from this machine. ${HOW}`

/**
 * A page at `GET {prefix}/console` to chat with agents, inspect runs, decide requests and operate the service. It has no rights
 * of its own: it sends only what its user may send. Throws `invalid_options`.
 */
export function webConsole(options: ConsoleOptions = {}): Plugin {
  checkOptions('webConsole', OptionsSchema, options)
  const { authenticate, login, title = 'servable' } = options
  return asPlugin({
    name: NAME,
    mount(core) {
      if (core.production && authenticate === undefined)
        return { begin: () => core.log({ level: 'warn', event: 'console.off', message: OFF }) }
      return {
        routes: routesOf(core, { authenticate, login, title }),
        ...(login && { outer: loggedIn(login, core.publicUrl) }),
        links: { console: joinPath(core.prefix, NAME) },
      }
    },
  })
}

/** What the page asks for its user. `identity` is the one that the middleware has found. */
type Telling = (
  state: RequestState,
  identity: Identity | undefined,
  request: Request,
) => object | Promise<object>

function routesOf(
  core: Core,
  { authenticate, login, title }: Omit<ConsoleOptions, 'title'> & { readonly title: string },
): Route[] {
  const path = joinPath(core.prefix, NAME)
  const security = resolveSecurity({}, core.settings)
  const asks = asksOf(security)
  const files = filesOf(BUILT.files)
  const guarded = (answer: Telling) => async (request: Request, state: RequestState) => {
    const { identity } = state
    const guard = gate(authenticate && (asked => authenticate(asked, identity)), OWN_MACHINE)
    return guard(request, state, async () =>
      Response.json(await answer(state, identity, request), { headers: { 'cache-control': 'no-store' } }),
    )
  }
  const ofUser = (name: string, answer: Telling): Route => ({
    ...{ method: 'GET', path: joinPath(path, name), part: NAME, cors: null, endpoint: guarded(answer) },
  })
  return [
    {
      method: 'GET',
      path,
      part: NAME,
      isOpenTo: isNavigation,
      endpoint: request => {
        const asksNow = login === undefined && asksFirst(asks, security, request)
        return pageOf({ title, asks, asksFirst: asksNow, hasLogin: login !== undefined })
      },
    },
    {
      method: 'GET',
      path: joinPath(path, 'assets/:file'),
      part: NAME,
      isOpen: true,
      endpoint: (request, { params }) => files(request, params.file ?? ''),
    },
    ofUser('config', (state, identity) => configOf(core, state, identity)),
    ofUser('tools/:kind/:name', ({ params }) => toolsOf(core, params)),
    ofUser('pages/:kind/:name', ({ params }) => pageNamesOf(servableOf(core, params))),
    ofUser('page/:kind/:name', ({ params }, _, request) => contentOf(servableOf(core, params), request)),
    { method: 'GET', path: joinPath(path, 'frame'), part: NAME, isOpen: true, endpoint: frameOf },
    ...(login ? loginRoutes(path, login, core.publicUrl) : []),
  ]
}

/** The routes of a login: to begin it, to come back from the provider, and to end it. */
function loginRoutes(path: string, login: Login, publicUrl: string | undefined): Route[] {
  const route = (method: Route['method'], name: string, endpoint: Route['endpoint']): Route => ({
    ...{ method, path: joinPath(path, name), part: NAME, isOpen: true, scope: 'read', cors: null, endpoint },
  })
  const at = (request: Request, ...below: string[]) =>
    new URL(joinPath(path, ...below), publicUrl ?? request.url).href
  return [
    route('GET', 'login', (request, state) => login.begin(at(request, 'callback'), request, state)),
    route('GET', 'callback', (request, state) =>
      login.finish(at(request, 'callback'), at(request), request, state),
    ),
    route('POST', 'logout', () => login.end()),
  ]
}

/** The configuration that the page needs. */
export interface ConsoleConfig {
  /** The version of servable. */
  readonly version: string
  /** Whether the text of server errors is masked. */
  readonly production: boolean
  /** The user. Null if unknown. */
  readonly identity: Required<Pick<Identity, 'id' | 'scopes' | 'roles'>> | null
  /** What the user may do with the things of others. */
  readonly rights: readonly Right[]
  /** Whether the user has logged in with a provider. */
  readonly isLoggedIn: boolean
  /** Whether the user is whoever is on the machine of this development server. */
  readonly isLocal: boolean
  /** The prefix of the service's own routes. A proxy may change it. */
  readonly prefix: string
  /** The names of all plugins. */
  readonly plugins: readonly string[]
  /** Paths that plugins serve, by name: `a2a`, `card`, `socket`, `mcp`, `metrics`, `docs`. */
  readonly links: Readonly<Record<string, string>>
  /** Why runs are not stored. Null if they are. */
  readonly notStored: string | null
  /** Whether the inputs of stored runs are kept. */
  readonly keepsInput: boolean
  /** Whether the work of stored runs is kept too, so that a run can go on after a step of another one. */
  readonly keepsJournal: boolean
  /** The most milliseconds of a run. */
  readonly timeoutMs: number
  /** The most runs at work of one client. */
  readonly maxRunningPerOwner: number
  /** Whether the service lists what it serves. */
  readonly listsAgents: boolean
  /** Whether the user may list runs. */
  readonly listsRuns: boolean
  /** Whether runs accept forms with files. */
  readonly takesFiles: boolean
  /** Most bytes of a JSON body. */
  readonly maxBodyBytes: number
}

/** The most tools of an agent that the page shows. */
const MAX_TOOLS = 200

/** The tools of an agent, a team or a workflow, with their schemas. Lists tell their names alone. */
function toolsOf(core: Core, params: RequestState['params']): readonly ToolSummary[] {
  const { tools } = servableOf(core, params) as { readonly tools?: unknown }
  return (Array.isArray(tools) ? tools : []).slice(0, MAX_TOOLS).flatMap(tool => {
    // Another framework's tools may be anything.
    try {
      return typeof tool.name === 'string' ? summaryOf(tool.name, tool) : []
    } catch {
      return []
    }
  })
}

/** What is served. Throws `not_found`. */
function servableOf({ catalog }: Core, { kind, name = '' }: RequestState['params']): object {
  const known = (['agent', 'team', 'workflow'] as const).find(each => each === kind)
  if (known === undefined) throw new ServableError('not_found', 'The kind must be agent, team or workflow')
  return catalog.resolve(known, name).servable
}

/** The configuration for a user. */
function configOf(core: Core, state: RequestState, identity: Identity | undefined): ConsoleConfig {
  const { production, prefix, mounted, settings, uploads, maxBodyBytes } = core
  const { keepInput, keepJournal, timeoutMs, maxRunningPerOwner } = settings.runs
  const rights = RIGHTS.filter(right => state.may(right))
  return {
    version: VERSION,
    production,
    identity: identity
      ? { id: identity.id, scopes: identity.scopes ?? [], roles: identity.roles ?? [] }
      : null,
    rights,
    isLoggedIn: state.isLoggedIn,
    isLocal: identity === LOCAL,
    prefix,
    plugins: mounted.map(({ name }) => name),
    links: Object.assign({}, ...mounted.map(({ links }) => links)),
    notStored: core.whyUnstored(state) ?? null,
    keepsInput: keepInput === 'identified' ? identity !== undefined : keepInput,
    keepsJournal: keepJournal,
    ...{ timeoutMs, maxRunningPerOwner },
    listsAgents: settings.registry !== undefined,
    listsRuns: identity !== undefined || settings.runs.listAnonymous,
    takesFiles: uploads !== undefined,
    maxBodyBytes,
  }
}
