/**
 * The fields that the bodies of Chat Completions and of Responses share. Unknown fields are ignored, and so are those for
 * sampling, because every client sends some.
 *
 * @module
 */

import * as v from 'valibot'
import type { Target } from '../../core-entry.ts'
import { flag, isObject, list, misfit } from '../encoders/index.ts'

/** Most messages or items of one request. */
const MAX_ITEMS = 10_000
/** Most tools of one request. */
const MAX_TOOLS = 1000

/** Members of an object of JSON. */
export type Fields = Readonly<Record<string, unknown>>

/** Any object of JSON. */
export const object: v.GenericSchema<unknown, Fields> = v.custom<Fields>(isObject, 'must be an object')

/** Messages or items. */
export const objects: v.GenericSchema<unknown, Fields[]> = list(object, MAX_ITEMS)

/** The fields of both bodies, without nulls. */
export interface CommonBody {
  readonly model: string
  readonly stream?: boolean | undefined
  readonly tools?: readonly Fields[] | undefined
  readonly tool_choice?: unknown
}

type Maybe<T> = v.OptionalSchema<v.GenericSchema<unknown, T>, undefined>

/** The schemas of the fields of both bodies. */
export const commonFields: {
  readonly model: v.GenericSchema<string>
  readonly stream: Maybe<boolean>
  readonly tools: Maybe<Fields[]>
  readonly tool_choice: Maybe<unknown>
} = {
  model: v.string('must be text'),
  stream: v.optional(flag),
  tools: v.optional(list(object, MAX_TOOLS)),
  tool_choice: v.optional(v.unknown()),
}

/**
 * The tools of the client, or undefined if there are none. Tools of a provider are left out. Throws `invalid_body` if a tool must
 * be called, because agents choose tools themselves.
 */
export function clientToolsOf({
  tools = [],
  tool_choice: choice = 'auto',
}: CommonBody): Fields[] | undefined {
  if (choice === 'none') return undefined
  if (choice !== 'auto') throw misfit('tool_choice', 'must be `auto` or `none`')
  const functions = tools.filter(({ type }) => type === 'function')
  return functions.length === 0
    ? undefined
    : functions.map(tool => {
        const { name, description, parameters } = Object(tool.function ?? tool) as Fields
        const isSchema = isObject(parameters) && parameters.type === 'object'
        return { name, description: description ?? undefined, parameters: isSchema ? parameters : undefined }
      })
}

/** Whether the answer must be JSON. Throws `invalid_body` for an agent that has no structured output. */
export function asksJson(format: unknown, { servable }: Target, path: string): boolean {
  if (!isJsonFormat(format)) return false
  if ('output' in servable && servable.output !== undefined) return true
  throw misfit(path, 'must be `text`: the model has no structured output')
}

/** Whether a format is JSON. */
export function isJsonFormat(format: unknown): boolean {
  return (Object(format).type ?? 'text') !== 'text'
}
