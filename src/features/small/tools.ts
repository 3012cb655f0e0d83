/**
 * Lists tools at `GET /tools`.
 *
 * @module
 */

import * as v from 'valibot'
import type { Tool, Toolkit } from '../../agents/tool.ts'
import type { ToolServerSource } from '../../agents/tool-servers.ts'
import { record } from '../../base/schemas.ts'
import { validate } from '../../base/validation.ts'
import type { Builders, Description, Schema, SchemaBuilders } from '../../core/builders.ts'
import { asPlugin } from '../../core/built-in.ts'
import type { Plugin } from '../../core/plugin.ts'
import type { Route } from '../../http/context.ts'
import { joinPath } from '../../http/router.ts'
import { createToolCatalog, TOOL_SUMMARY, type ToolCatalog } from '../../http/tool-catalog.ts'
import { jsonReply } from '../../web/reply.ts'

/** The sources of tools. */
export interface ToolsOptions {
  /** Toolkits whose tools are listed. */
  readonly toolkits?: readonly Toolkit[] | undefined
  /** Tools by the name under which they are listed. They win over a toolkit's tool of the same name. */
  readonly toolLibrary?: Readonly<Record<string, Tool>> | undefined
  /** The manager whose servers' tools are listed too, as `server.tool`. Give the manager to `admin` as well. */
  readonly servers?: ToolServerSource | undefined
}

const OptionsSchema = v.strictObject({
  toolkits: v.optional(v.array(v.unknown(), 'must be an array')),
  toolLibrary: v.optional(record),
  servers: v.optional(v.unknown()),
})

/** The plugin, if the options name any tools. */
export function toolsOf(options: ToolsOptions): Plugin | undefined {
  validate(OptionsSchema, options, 'invalid_options', 'tools')
  const { toolkits = [], toolLibrary = {}, servers } = options
  const hasTools = toolkits.length > 0 || Object.keys(toolLibrary).length > 0 || servers !== undefined
  return hasTools ? tools(options) : undefined
}

/** Lists tools at `GET /tools` and `GET /tools/:name`. Throws `invalid_options`. */
export function tools(options: ToolsOptions = {}): Plugin {
  validate(OptionsSchema, options, 'invalid_options', 'tools')
  const { toolkits = [], toolLibrary = {}, servers } = options
  const catalog = createToolCatalog({ toolkits, toolLibrary, toolServers: servers })
  return asPlugin({
    name: 'tools',
    mount: ({ prefix }) => ({
      routes: toolRoutes(prefix, catalog),
      links: { tools: joinPath(prefix, 'tools') },
      describe: describeTools,
    }),
  })
}

function describeTools(build: Builders): Description {
  const { at, read, operation, parameter, answer, json, ref, list } = build
  return {
    paths: {
      [at('tools')]: { get: read('listTools', 'All tools', list(ref('ToolSummary'))) },
      [at('tools/{name}')]: {
        get: operation('discovery', 'getTool', 'Get one tool', {
          parameters: [parameter('path', 'name', 'Name of the tool')],
          responses: { 200: answer('The tool', json(ref('ToolDetail'))) },
          problems: [401, 404],
        }),
      },
    },
    schemas: toolSchemas(build),
  }
}

/** The schemas of the answers. */
export function toolSchemas({ ref, object, maybeText }: SchemaBuilders): Record<string, Schema> {
  return {
    ToolSummary: TOOL_SUMMARY,
    ToolDetail: { allOf: [ref('ToolSummary'), object({ toolkit: maybeText, server: maybeText })] },
  }
}

/** Makes the two routes under `prefix`: `GET /tools` and `GET /tools/:name`. */
function toolRoutes(prefix: string, tools: ToolCatalog): Route[] {
  const path = joinPath(prefix, 'tools')
  return [
    { method: 'GET', path, part: 'router', endpoint: async () => jsonReply(await tools.list()) },
    {
      method: 'GET',
      path: `${path}/:name`,
      part: 'router',
      endpoint: async (_, { params }) => jsonReply(await tools.get(params.name ?? '')),
    },
  ]
}
