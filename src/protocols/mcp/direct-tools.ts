/**
 * Tools that clients of MCP call without an agent: those of toolkits, and those of connected tool servers. Each call is a run of
 * its own, so it has an owner, limits, metrics and approvals like any run.
 *
 * @module
 */

import * as v from 'valibot'
import { Agent } from '../../agents/agent.ts'
import type { RunInput, ServableAgent } from '../../agents/contract.ts'
import { fitOf } from '../../agents/misfit.ts'
import type { Tool, Toolkit } from '../../agents/tool.ts'
import { ServableError } from '../../base/errors.ts'
import { checkOptions, func, strings } from '../../base/schemas.ts'
import { type Catalog, createCatalog } from '../../http/catalog.ts'
import { toJsonSchema } from '../../http/json-schema.ts'
import { RETURNED } from './content.ts'
import {
  ANY_INPUT,
  type MoreTools,
  type Offered,
  objectSchemas,
  type TaskSupport,
  toolName,
} from './offer.ts'

/** The methods of a `ToolServerManager` that are used here. */
export interface ToolManager {
  tool(name: string): Tool
  tools(options?: { readonly forPages?: boolean }): Promise<readonly Tool[]>
}

/** The tools to offer. */
export interface DirectToolsOptions {
  readonly toolkits?: readonly Toolkit[] | undefined
  /** A `ToolServerManager`: all tools of its connected servers are offered, by names such as `server_tool`. */
  readonly toolServers?: ToolManager | undefined
  /** The names of the tools to offer: `multiply`, `github.search`. Default: all. */
  readonly only?: readonly string[] | undefined
  /** Whether calls may become tasks. Default: `optional`. */
  readonly taskSupport?: TaskSupport | undefined
}

/** Direct tools for the plugin. */
export interface DirectTools {
  catalog(scope: 'mcp'): Catalog
  offeredBy(catalog: Catalog): MoreTools
}

const OptionsSchema = v.strictObject({
  toolkits: v.optional(
    v.array(v.looseObject({ tools: v.array(v.looseObject({ name: v.string(), execute: func })) })),
  ),
  toolServers: v.optional(v.looseObject({})),
  only: v.optional(strings),
  taskSupport: v.optional(v.picklist(['forbidden', 'optional', 'required'])),
})

/** Offers tools themselves. Throws `invalid_options`. */
export function directTools(options: DirectToolsOptions): DirectTools {
  checkOptions('directTools', OptionsSchema, options)
  const { toolkits = [], toolServers, only, taskSupport = 'optional' } = options
  const isOffered = ({ name }: Tool) => only?.includes(name) ?? true
  const own = toolkits.flatMap(({ tools }) => tools).filter(isOffered)
  const schemaOf = objectSchemas(toJsonSchema)
  const agents = Object.fromEntries(own.map(tool => [tool.name, agentOf(tool)]))
  const offeredAs = (tool: Tool, catalog: Catalog, server?: string): Offered => ({
    ...{ name: toolName(tool.name), description: tool.description, taskSupport },
    input: tool.parameters ?? {},
    inputSchema: schemaOf(tool.parameters) ?? ANY_INPUT,
    outputSchema: undefined,
    target: catalog.resolve('agent', tool.name),
    ...{ page: tool.page, visibility: tool.visibility, server },
  })
  return {
    catalog(scope) {
      const own = createCatalog({ agents, registry: undefined, scope })
      const find: Catalog['find'] = (kind, name) => {
        const found = own.find(kind, name)
        if (found || !toolServers || kind !== 'agent' || !name.includes('.')) return found
        return { kind, name, servable: agentOf(toolServers.tool(name)), scope }
      }
      return {
        ...own,
        find,
        resolve: (kind, name) => find(kind, name) ?? own.resolve(kind, name),
      }
    },
    offeredBy: catalog => ({
      names: own.map(({ name }) => toolName(name)),
      list: async () => [
        ...own.map(tool => offeredAs(tool, catalog)),
        ...((await toolServers?.tools({ forPages: true })) ?? [])
          .filter(isOffered)
          .map(tool => offeredAs(tool, catalog, tool.name.slice(0, tool.name.indexOf('.')))),
      ],
    }),
  }
}

/** An agent that only calls one tool. */
function agentOf(tool: Tool): ServableAgent {
  return new Agent({
    name: tool.name,
    register: false,
    run: async function* (input: RunInput, { callTool }) {
      const [part] = input as readonly { readonly data?: unknown }[]
      const fit = await fitOf(part?.data, tool.parameters)
      if ('misfit' in fit) throw new ServableError('invalid_input', fit.misfit)
      const result: unknown = yield* callTool(tool, fit.value)
      yield { type: 'finish', finishReason: 'stop', structured: { [RETURNED]: jsonOf(result) } }
    },
  })
}

/** A value that JSON would leave out becomes null, as the run is stored as JSON. */
function jsonOf(value: unknown): unknown {
  return typeof value === 'symbol' || typeof value === 'function' ? null : (value ?? null)
}
