/**
 * Lists tools: named ones first, then those of toolkits.
 *
 * @module
 */

import type { Tool, Toolkit } from '../agents/tool.ts'
import type { ServerTool, ToolServerSource } from '../agents/tool-servers.ts'
import { ServableError } from '../base/errors.ts'
import { type JsonSchema, toJsonSchema } from './json-schema.ts'

/** A tool in lists. */
export interface ToolSummary {
  readonly name: string
  readonly description: string | null
  /** JSON Schema of the arguments; null if the tool has none. */
  readonly parameters: JsonSchema | null
  /** Whether its calls may wait for the approval of a person. */
  readonly needsApproval: boolean
}

/** One tool. */
export interface ToolDetail extends ToolSummary {
  /** The toolkit that it belongs to; null for a named tool. */
  readonly toolkit: string | null
  /** The tool server that it belongs to; null for a tool of this service. */
  readonly server: string | null
}

/** The sources of tools. */
export interface ToolSources {
  readonly toolkits: readonly Toolkit[]
  /** Tools by name. They win over a toolkit's of the same name. */
  readonly toolLibrary: Readonly<Record<string, Tool>>
  /** The tools of tool servers come last: `server.tool`. */
  readonly toolServers: Pick<ToolServerSource, 'servers'> | undefined
}

/** Finds tools. */
export interface ToolCatalog {
  list(): Promise<readonly ToolSummary[]>
  /** Throws `tool_not_found`. */
  get(name: string): Promise<ToolDetail>
}

/** Collects the tools. Throws `invalid_options` for an invalid one. The first toolkit with a name has it. */
export function createToolCatalog({ toolkits, toolLibrary, toolServers }: ToolSources): ToolCatalog {
  const tools = new Map<string, { tool: Tool; toolkit: string | null }>()
  for (const [name, tool] of Object.entries(toolLibrary)) {
    checkTool(tool, `toolLibrary.${name}`)
    tools.set(name, { tool, toolkit: null })
  }
  for (const [index, toolkit] of toolkits.entries()) {
    checkToolkit(toolkit, `toolkits[${index}]`)
    for (const tool of toolkit.tools) {
      if (!tools.has(tool.name)) tools.set(tool.name, { tool, toolkit: toolkit.name })
    }
  }
  const remote = async () =>
    ((await toolServers?.servers.tools()) ?? []).filter(({ name }) => !tools.has(name))
  return {
    async list() {
      const own = Array.from(tools, ([name, { tool }]) => summaryOf(name, tool))
      return [...own, ...(await remote()).map(toSummary)]
    },
    async get(name) {
      const found = tools.get(name)
      if (found !== undefined) return { ...summaryOf(name, found.tool), toolkit: found.toolkit, server: null }
      const tool = (await remote()).find(each => each.name === name)
      if (tool !== undefined) return { ...toSummary(tool), toolkit: null, server: tool.server }
      throw new ServableError('tool_not_found', `There is no tool named \`${name.slice(0, 100)}\``)
    },
  }
}

function toSummary({ name, description, parameters, needsApproval }: ServerTool): ToolSummary {
  return { name, description, parameters, needsApproval }
}

/** Makes the summary of a tool. */
export function summaryOf(
  name: string,
  { description, parameters, needsApproval = false }: Tool,
): ToolSummary {
  return {
    name,
    description: description ?? null,
    parameters: toJsonSchema(parameters),
    needsApproval: needsApproval !== false,
  }
}

function checkTool(value: unknown, where: string): void {
  const { execute, description } = Object(value) as Partial<Tool>
  if (typeof execute !== 'function') {
    throw new ServableError('invalid_options', `\`${where}\` must be a tool, with an \`execute\` function`)
  }
  if (description === undefined || typeof description === 'string') return
  throw new ServableError('invalid_options', `\`${where}.description\` must be text`)
}

function checkToolkit(value: unknown, where: string): asserts value is Toolkit {
  const { name, tools } = Object(value) as Partial<Toolkit>
  if (typeof name !== 'string' || name === '' || !Array.isArray(tools)) {
    throw new ServableError('invalid_options', `\`${where}\` must have a \`name\` and \`tools\``)
  }
  for (const [index, tool] of tools.entries()) {
    checkTool(tool, `${where}.tools[${index}]`)
    if (typeof tool.name !== 'string' || tool.name === '') {
      throw new ServableError('invalid_options', `\`${where}.tools[${index}]\` must have a \`name\``)
    }
  }
}

/** The schema of a `ToolSummary`, for the OpenAPI document. */
export const TOOL_SUMMARY: Readonly<Record<string, unknown>> = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    description: { type: 'string', nullable: true },
    parameters: { type: 'object', nullable: true, description: 'JSON Schema' },
    needsApproval: { type: 'boolean', description: 'Its calls may wait for the approval of a person' },
  },
  required: ['name', 'description', 'parameters', 'needsApproval'],
}
