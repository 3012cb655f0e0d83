/**
 * Makes tools for models.
 *
 * @module
 */

import { type JSONSchema7, jsonSchema, type Schema, type ToolSet, tool } from 'ai'
import { isForModels } from '../../agents/app-page.ts'
import type { ClientTool } from '../../agents/contract.ts'
import { fitOf } from '../../agents/misfit.ts'
import { secretsOf, withoutKeys } from '../../agents/redacted.ts'
import { type CallFacts, type Tool, type ToolContext, toolContextOf } from '../../agents/tool.ts'
import type { RunContext } from '../../agents/work/perform.ts'
import { isServableError, messageOf, redact, ServableError } from '../../base/errors.ts'
import { toJsonSchema } from '../../http/json-schema.ts'
import { factsOf, type Rounds } from './rounds.ts'

/** Tools for a model, and their public names. */
export interface ModelTools {
  readonly set: ToolSet
  nameOf(name: string): string
  /** The agent's tool for the model's name; undefined for a tool of the client. */
  ownOf(name: string): OwnTool | undefined
}

/** A tool of the agent that the model may call. */
export interface OwnTool {
  readonly tool: Tool
  /** Converts the arguments for the tool. Throws `invalid_input` if they do not fit. */
  parse(args: unknown): Promise<unknown>
  /** Calls it with the result of `parse`. */
  call(args: unknown, call: CallFacts): Promise<unknown>
}

/** The most characters of a tool's name that the providers accept. */
const MAX_NAME = 64

/**
 * Makes tools for a model. `server.tool` becomes `server_tool` for the model, and is `server.tool` again in events. The model's
 * package calls the tools that need no approval, unless each result must be stored as it ends. It stops when the model calls
 * another one. Throws `invalid_input` for a client tool that has the name of one of these.
 */
export function toModelTools(
  tools: readonly Tool[],
  run: RunContext,
  rounds: Rounds,
  clientTools: readonly ClientTool[] = [],
): ModelTools {
  const owns = new Map<string, OwnTool>()
  const set: ToolSet = {}
  for (const each of tools.filter(isForModels)) {
    const name = freeName(each.name, owns)
    const own = ownTool(each, run)
    owns.set(name, own)
    const description = each.description !== undefined && { description: each.description }
    set[name] =
      !rounds.isKept && isFree(each)
        ? tool({
            ...description,
            inputSchema: toSchema(each.parameters),
            execute(input: unknown, { toolCallId, abortSignal }) {
              const planned = rounds.next({ toolCallId, toolName: name, input })
              return own.call(input, factsOf(planned, abortSignal ?? run.signal))
            },
          })
        : tool({ ...description, inputSchema: unchanged(toSchema(each.parameters)) })
  }
  for (const { name, description, parameters = { type: 'object' } } of clientTools) {
    if (owns.has(name) || tools.some(own => own.name === name)) {
      throw new ServableError('invalid_input', `\`clientTools\`: the agent has a tool \`${name}\` of its own`)
    }
    set[name] = tool({
      ...(description !== undefined && { description }),
      inputSchema: jsonSchema(parameters as JSONSchema7),
    })
  }
  return { set, nameOf: name => owns.get(name)?.tool.name ?? name, ownOf: name => owns.get(name) }
}

/** Whether a tool may be called without an approval. */
function isFree({ needsApproval = false }: Tool): boolean {
  return needsApproval === false
}

function ownTool(own: Tool, run: RunContext): OwnTool {
  const { validate } = toSchema(own.parameters)
  return {
    tool: own,
    async parse(args) {
      const result = await validate?.(args)
      if (result === undefined || result.success) return result === undefined ? args : result.value
      const text = `\`${own.name}\`: the arguments do not fit: ${messageOf(result.error)}`
      throw new ServableError('invalid_input', text)
    },
    call: (args, call) => execute(own, args, toolContextOf(run, call, own.name), run),
  }
}

/** Checks as the schema does, but returns the value unchanged, as it is shown for an approval. */
function unchanged({ jsonSchema: json, validate }: Schema<unknown>): Schema<unknown> {
  return jsonSchema(json, {
    async validate(value) {
      const result = await validate?.(value)
      return result === undefined || result.success ? { success: true, value } : result
    },
  })
}

/** A name that the providers accept. */
export function plainName(name: string): string {
  return name.replace(/[^\w-]/g, '_').slice(0, MAX_NAME)
}

/** Calls a tool. Errors stay errors, and results become JSON. Neither contains a key of the run. */
async function execute(each: Tool, args: unknown, context: ToolContext, run: RunContext): Promise<unknown> {
  try {
    return withoutKeys(await each.execute(args, context), run)
  } catch (cause) {
    throw withoutSecrets(cause, run)
  }
}

/** A failure for the model. Only the log gets the cause, and it removes keys from it. */
export function withoutSecrets(cause: unknown, run: RunContext): Error {
  const text = redact(messageOf(cause), secretsOf(run))
  if (isServableError(cause)) return new ServableError(cause.code, text, { issues: cause.issues, cause })
  return new Error(text, { cause })
}

/** A name that the providers accept and that no other tool has. */
export function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  const plain = plainName(name)
  let free = plain
  for (let count = 2; taken.has(free); count++) free = `${plain.slice(0, MAX_NAME - 4)}_${count}`
  return free
}

/**
 * Any schema for the AI SDK. The model gets the message for a value that does not fit. A Standard Schema checks the whole value,
 * plain JSON Schema its type and required properties.
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

/** The error for a call of a tool that the agent no longer has. */
export function toolGone(name: string): ServableError {
  return new ServableError('code_changed', `The agent has no tool \`${name}\` any more`)
}
