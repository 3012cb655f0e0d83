/**
 * Tools in the form that models take.
 *
 * @module
 */

import { type JSONSchema7, jsonSchema, type Schema, type ToolSet, tool } from 'ai'
import type { RunContext } from '../agents/perform.ts'
import { secretsOf, withoutKeys } from '../agents/redacted.ts'
import { type Tool, type ToolContext, toolContextOf } from '../agents/tool.ts'
import { isServableError, messageOf, redact, ServableError } from '../errors.ts'
import { toJsonSchema } from '../http/json-schema.ts'
import { misfitOf } from './misfit.ts'

/** Tools for a model, and their public names. */
export interface ModelTools {
  readonly set: ToolSet
  nameOf(name: string): string
}

/** Most characters of a tool's name that the providers accept. */
const MAX_NAME = 64

/** Makes tools for a model. `server.tool` becomes `server_tool` for the model, and stays `server.tool` in events. */
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

/** Calls a tool. Errors stay errors, and results become JSON. Neither contains a key of the run. */
async function execute(each: Tool, args: unknown, context: ToolContext, run: RunContext): Promise<unknown> {
  try {
    return withoutKeys(await each.execute(args, context), run)
  } catch (cause) {
    const text = redact(messageOf(cause), secretsOf(run))
    // Only the log gets the cause, and it removes keys from it.
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

/** The part of Standard Schema that is used (`standardschema.dev`). */
interface Standard {
  validate?(value: unknown): unknown
}

/**
 * Any schema in the AI SDK's form. If a value does not fit, the model gets the reason. A Standard Schema checks the whole
 * value. For plain JSON Schema, {@link misfitOf} checks a part.
 */
export function toSchema(schema: unknown): Schema<unknown> {
  const standard = (schema as { readonly '~standard'?: Standard } | undefined)?.['~standard']
  const json = (toJsonSchema(schema) ?? { type: 'object' }) as JSONSchema7
  const validate = standard?.validate
  if (validate === undefined) {
    return jsonSchema(json, {
      validate(value) {
        const misfit = misfitOf(value, json)
        return misfit === undefined ? { success: true, value } : { success: false, error: new Error(misfit) }
      },
    })
  }
  return jsonSchema(json, {
    async validate(value) {
      const result = (await validate(value)) as {
        readonly issues?: readonly { readonly message: string }[]
        readonly value?: unknown
      }
      if (result.issues === undefined) return { success: true, value: result.value }
      return { success: false, error: new Error(result.issues.map(({ message }) => message).join('; ')) }
    },
  })
}
