/**
 * Reads the models and tools of agents.
 *
 * @module
 */

import type { Tool } from '../../agents/tool.ts'
import { ServableError } from '../../base/errors.ts'
import type { AgentFacts } from './adapter.ts'
import { fieldsOf, textIn, type UnknownFields } from './fields.ts'

/** The model of an AI SDK model object, or of a name such as `openai/gpt-5`, which may also be an object's `id`. */
export function modelOf(model: unknown): AgentFacts['model'] {
  const { provider, modelId, id } = fieldsOf(model)
  const named = /^([^/]+)\/(.+)$/.exec(textIn(model) ?? textIn(id) ?? '')
  const [from, name] = [textIn(provider) ?? named?.[1], textIn(modelId) ?? named?.[2]]
  return from === undefined || name === undefined ? undefined : { provider: from, id: name }
}

/** Reads tools from a list, or from an object with their names as keys. */
export function toolsOf(tools: unknown): Tool[] {
  if (Array.isArray(tools)) {
    return tools.flatMap(tool => {
      const name = textIn(fieldsOf(tool).name)
      return name === undefined ? [] : [toTool(name, fieldsOf(tool))]
    })
  }
  return Object.entries(fieldsOf(tools)).map(([name, tool]) => toTool(name, fieldsOf(tool)))
}

function toTool(name: string, { description, inputSchema, parameters, schema }: UnknownFields): Tool {
  const given = inputSchema ?? parameters ?? schema
  const text = textIn(description)
  return {
    name,
    ...(text !== undefined && { description: text }),
    ...(given !== undefined && { parameters: fieldsOf(given).jsonSchema ?? given }),
    execute() {
      throw new ServableError('invalid_options', `the tool \`${name}\` can be called by its own agent only`)
    },
  }
}
