/**
 * What agents tell of their models and tools.
 *
 * @module
 */

import type { Tool } from '../agents/tool.ts'
import { ServableError } from '../errors.ts'
import type { Facts } from './adapter.ts'
import { type Fields, fieldsOf, textIn } from './fields.ts'

/** The model that an AI SDK model object is, or that text such as `openai/gpt-5` names. */
export function modelOf(model: unknown): Facts['model'] {
  if (typeof model === 'string') {
    const [, provider, id] = /^([^/]+)\/(.+)$/.exec(model) ?? []
    return provider !== undefined && id !== undefined ? { provider, id } : undefined
  }
  const { provider, modelId } = fieldsOf(model)
  const [from, id] = [textIn(provider), textIn(modelId)]
  return from === undefined || id === undefined ? undefined : { provider: from, id }
}

/** Tools in a list, or in an object by their names. */
export function toolsOf(tools: unknown): Tool[] {
  if (Array.isArray(tools)) {
    return tools.flatMap(tool => {
      const name = textIn(fieldsOf(tool).name)
      return name === undefined ? [] : [toTool(name, fieldsOf(tool))]
    })
  }
  return Object.entries(fieldsOf(tools)).map(([name, tool]) => toTool(name, fieldsOf(tool)))
}

function toTool(name: string, { description, inputSchema, parameters, schema }: Fields): Tool {
  const given = inputSchema ?? parameters ?? schema
  const text = textIn(description)
  return {
    name,
    ...(text !== undefined && { description: text }),
    ...(given !== undefined && { parameters: fieldsOf(given).jsonSchema ?? given }),
    execute() {
      throw new ServableError('invalid_options', `the tool \`${name}\` is called by its own agent alone`)
    },
  }
}
