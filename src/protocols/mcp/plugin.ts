/**
 * An MCP server as a plugin: the entry `servable/mcp`.
 *
 * Begin with `endpoint.ts` (one message), then `call.ts` (one tool call) and `tasks.ts`. May import `core` and what is below
 * it, and no other protocol but `encoders`.
 *
 * @module
 */

import * as v from 'valibot'
import { shownSchema } from '../../agents/misfit.ts'
import { ServableError } from '../../base/errors.ts'
import { checkOptions, func, path, record, strings } from '../../base/schemas.ts'
import { asPlugin, type BuiltInMounted, type Core } from '../../core/built-in.ts'
import type { Plugin } from '../../core/plugin.ts'
import type { Route } from '../../http/context.ts'
import { joinPath } from '../../http/router.ts'
import { VERSION } from '../../http/version.ts'
import type { DirectTools } from './direct-tools.ts'
import { mcpEndpoints } from './endpoint.ts'
import {
  ANY_INPUT,
  createOffer,
  type McpTool,
  type Offer,
  objectSchemas,
  type ToJsonSchema,
} from './offer.ts'
import { NamedSchema } from './part.ts'
import type { McpAuth, McpIcon, McpPart, McpTasks } from './request.ts'
import { problemError } from './rpc.ts'
import { createHandleSeal } from './seal.ts'
import { ActiveCalls } from './sessions.ts'

export type {
  AppPage,
  PageContent,
  PageLook,
  PageOrigins,
  ToolCaller,
} from '../../agents/app-page.ts'
export { toJsonSchema } from '../../http/json-schema.ts'
export type { MadeFile, OpenedFile } from '../../runs/files.ts'
export { type AppPageOptions, appPage } from './app-page.ts'
export { type McpAuthOptions, mcpAuth, type TokenOwner } from './auth.ts'
export { type DirectTools, type DirectToolsOptions, directTools, type ToolManager } from './direct-tools.ts'
export type { McpTool, TaskSupport, ToJsonSchema } from './offer.ts'
export {
  type McpPrompt,
  mcpPrompts,
  type PromptArgument,
  type PromptAsked,
  type PromptMessage,
  type PromptResult,
} from './prompts.ts'
export type { Asked, AskedFiles, Completes, McpAuth, McpIcon, McpPart, McpTasks, Named } from './request.ts'
export {
  type McpResource,
  mcpResources,
  ownConversations,
  ownFiles,
  type ResourceAsked,
  type ResourceContent,
  type ResourceEntry,
} from './resources.ts'
export { type McpTasksOptions, mcpTasks } from './tasks.ts'

/** Options of an MCP server. */
export interface McpOptions {
  /**
   * The servables to offer as tools: `true` for all, or names such as `support`, `team/desk`, `workflow/onboard`. Each request
   * looks the names up. Default: none, so that nothing is offered by accident.
   */
  readonly tools?: true | readonly (string | McpTool)[] | undefined
  /** Tools that clients call without an agent: `directTools({ toolkits, toolServers })`. Default: none. */
  readonly directTools?: DirectTools | undefined
  /** What clients read by its address: `mcpResources({ … })`. Default: none. */
  readonly resources?: McpPart | undefined
  /** Messages that a person picks in a client: `mcpPrompts({ … })`. Default: none. */
  readonly prompts?: McpPart | undefined
  /** Lets calls that take long become tasks: `mcpTasks()`. Default: a call ends with its connection. */
  readonly tasks?: McpTasks | undefined
  /**
   * Returns the JSON Schema of a schema. Default: handles plain JSON Schema, and schemas of libraries such as zod and ArkType,
   * which convert themselves. For valibot give `toJsonSchema` of this entry.
   */
  readonly toJsonSchema?: ToJsonSchema | undefined
  /** The path of the endpoint, whatever the handler's `prefix`. Default: `/mcp`. */
  readonly path?: string | undefined
  /** The name of the service that clients show. Default: `servable`. */
  readonly name?: string | undefined
  /** The version of the service that clients show. Default: the version of `servable`. */
  readonly version?: string | undefined
  /** The title of the service that clients show to people. Default: none. */
  readonly title?: string | undefined
  /** Icons of the service, as addresses of images. Default: none. */
  readonly icons?: readonly McpIcon[] | undefined
  /** Instructions for models about the service as a whole. Default: none. */
  readonly instructions?: string | undefined
  /**
   * The servers that issue tokens, and the scopes that tokens need: `mcpAuth({ … })`. Default: the middleware of the handler
   * decides.
   */
  readonly auth?: McpAuth | undefined
  /**
   * The hosts of the endpoint, such as `tools.example.com`. Others are refused, except loopback names. Default: programs may use
   * any host, and pages that of `publicUrl`. Without `publicUrl`, pages may use any host in production, unless they run on this
   * machine.
   */
  readonly allowedHosts?: readonly string[] | undefined
  /**
   * Signs the state of waiting calls, which clients send back. It must be the same in all processes. Default: none, so the state
   * of a call without an owner is only as safe as the id of its run.
   */
  readonly secret?: string | undefined
}

const NAME = 'mcp'

const text = v.optional(v.string('must be text'))

const ToolSchema = v.union(
  [
    v.string(),
    v.strictObject({
      of: v.string('must be the name of a servable'),
      name: v.optional(
        v.pipe(
          v.string(),
          v.regex(/^[\w-]{1,64}$/, 'must have 1 to 64 characters of A-Z, a-z, 0-9, _ and -'),
        ),
      ),
      title: text,
      description: text,
      icons: NamedSchema.icons,
      input: v.optional(v.unknown()),
      annotations: v.optional(record),
      taskSupport: v.optional(
        v.picklist(['forbidden', 'optional', 'required'], 'must be `forbidden`, `optional` or `required`'),
      ),
      visibility: v.optional(v.array(v.picklist(['model', 'app']), "must be an array of 'model' and 'app'")),
    }),
  ],
  'must be a name, or an object with `of`',
)

const OptionsSchema = v.strictObject({
  tools: v.optional(v.union([v.literal(true), v.array(ToolSchema)], 'must be true or an array of names')),
  directTools: v.optional(record),
  tasks: v.optional(record),
  toJsonSchema: v.optional(func),
  path: v.optional(path),
  name: text,
  version: text,
  title: text,
  icons: NamedSchema.icons,
  resources: v.optional(record),
  prompts: v.optional(record),
  instructions: text,
  auth: v.optional(record),
  allowedHosts: v.optional(strings),
  secret: v.optional(v.pipe(v.string(), v.minLength(32, 'must have at least 32 characters'))),
})

/**
 * Serves agents, teams and workflows as tools to clients of MCP: `POST /mcp`, Streamable HTTP of 2025-03-26 to 2026-07-28. Throws
 * `invalid_options`.
 */
export function mcp(options: McpOptions): Plugin {
  checkOptions(NAME, OptionsSchema, options)
  const { tools, directTools: direct } = options
  if (tools === undefined && direct === undefined)
    throw new ServableError(
      'invalid_options',
      '`mcp` offers nothing: name agents in `mcp.tools`, or give `true` for all',
    )
  return asPlugin({
    name: NAME,
    ...(direct && { catalog: () => direct.catalog(NAME) }),
    mount: core => mountMcp(core, options),
  })
}

function mountMcp(core: Core, options: McpOptions): BuiltInMounted {
  const { tools = [], directTools: direct, tasks, auth, instructions, secret } = options
  const allowedHosts = options.allowedHosts?.map(host => host.toLowerCase())
  const { name = 'servable', version = VERSION, title, icons, resources, prompts } = options
  const endpointPath = joinPath(options.path ?? '/mcp')
  const guard = auth?.guard(endpointPath, core)
  const { toJsonSchema = schema => shownSchema(schema) as ReturnType<ToJsonSchema> } = options
  const offer = createOffer(tools, core.catalog, {
    more: direct?.offeredBy(core.catalogOf(NAME)),
    schemaOf: objectSchemas(toJsonSchema),
  })
  const toError = async (problem: Response) => {
    const answer = await problemError(problem)
    return guard?.challenge(answer) ?? answer
  }
  const { post, get } = mcpEndpoints({
    ...{ core, offer, tasks, guard, instructions, allowedHosts },
    info: { name, version, title, icons },
    offers: [resources, prompts].flatMap(each => each ?? []),
    resources,
    seal: createHandleSeal(secret),
    sessions: new ActiveCalls(),
  })
  const decidesItself = guard?.decidesItself === true
  const own = { part: NAME, decidesItself, hosts: allowedHosts, toError }
  const routes: Route[] = [
    { method: 'POST', path: endpointPath, ...own, endpoint: post },
    { method: 'GET', path: endpointPath, ...own, endpoint: get },
  ]
  return {
    base: { path: endpointPath, toError },
    routes: [...routes, ...(guard?.routes ?? [])],
    links: { mcp: endpointPath },
    describe: build => build.routes(routes, 'MCP'),
    begin: () => warnOfGaps(core, offer),
  }
}

/** Logs a warning for each tool that is not served yet, has no description, or has a schema that cannot be shown. */
function warnOfGaps({ log }: Core, offer: Offer): void {
  const warn = (name: string, what: string) =>
    log({ level: 'warn', event: 'mcp.tool', message: `The tool \`${name}\` ${what}` })
  for (const of of offer.missing()) warn(of, 'is not offered: nothing of that name is served')
  for (const { name, description, target, input, inputSchema, outputSchema } of offer.own()) {
    if (!description) warn(name, 'has no description: models choose by it')
    if ((target.servable.output && !outputSchema) || (input && inputSchema === ANY_INPUT))
      warn(name, 'has a schema that is not shown: give `mcp` the `toJsonSchema` of `servable/mcp`')
  }
}
