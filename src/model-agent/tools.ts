/**
 * Tools as a model knows them.
 *
 * @module
 */

import { type JSONSchema7, jsonSchema, type Schema, type ToolSet, tool } from 'ai'
import { fitOf } from '../agents/misfit.ts'
import type { RunContext } from '../agents/perform.ts'
import { secretsOf, withoutKeys } from '../agents/redacted.ts'
import { type Tool, type ToolContext, toolContextOf } from '../agents/tool.ts'
import { isServableError, messageOf, redact, ServableError } from '../errors.ts'
import { toJsonSchema } from '../http/json-schema.ts'

/** Tools for a model, and the names by which the rest of the world knows them. */
export interface ModelTools {
  readonly set: ToolSet
  nameOf(name: string): string
}

/** What the model's providers take as a name. */
const MAX_NAME = 64

/** Makes tools for a model: `server.tool` becomes `server_tool`, and is told as `server.tool` again. */
export function toModelTools(tools: readonly Tool[], run: RunContext): ModelTools {
  const names = new Map<string, string>()
  const set: ToolSet = {}
  for (const each of tools) {
    const name = freeName(each.name, names)
    names.set(name, each.name)
    set[name] = tool({
      ...(each.description !== undefined && { description: each.description }),
      inputSchema: toSchema(each.parameters),
      execute: (args: unknown, { toolCallId, abortSignal }) =>
        execute(each, args, toolContextOf(run, { toolCallId, signal: abortSignal ?? run.signal }), run),
    })
  }
  return { set, nameOf: name => names.get(name) ?? name }
}

/** Calls a tool. Whatever it throws is an error, what it gives is JSON, and neither holds a key of the run. */
async function execute(each: Tool, args: unknown, context: ToolContext, run: RunContext): Promise<unknown> {
  try {
    return withoutKeys(await each.execute(args, context), run)
  } catch (cause) {
    const text = redact(messageOf(cause), secretsOf(run))
    // The cause is for the log alone, which cuts keys out of it.
    if (isServableError(cause)) throw new ServableError(cause.code, text, { issues: cause.issues, cause })
    throw new Error(text, { cause })
  }
}

function freeName(name: string, taken: ReadonlyMap<string, string>): string {
  const plain = name.replace(/[^\w-]/g, '_').slice(0, MAX_NAME)
  let free = plain
  for (let count = 2; taken.has(free); count++) free = `${plain.slice(0, MAX_NAME - 4)}_${count}`
  return free
}

/**
 * Any schema for the AI SDK; what it says of a value that does not fit goes back to the model. A Standard Schema checks the
 * whole value, plain JSON Schema its type and what it requires.
 */
export function toSchema(schema: unknown): Schema<unknown> {
  return jsonSchema((toJsonSchema(schema) ?? { type: 'object' }) as JSONSchema7, {
    async validate(value) {
      const fit = await fitOf(value, schema)
      return 'value' in fit
        ? { success: true, value: fit.value }
        : { success: false, error: new Error(fit.misfit) }
    },
  })
}
