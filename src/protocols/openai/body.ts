/**
 * What the bodies of Chat Completions and of Responses have in common. Fields that are not known are ignored, and so are those for
 * sampling: every client sends some.
 *
 * @module
 */

import * as v from 'valibot'
import { flag } from '../../base/schemas.ts'
import { isObject, list, misfit } from '../../base/validation.ts'
import type { Target } from '../../runs/target.ts'

/** Messages or items, and tools of one request. */
const MAX_ITEMS = 10_000
const MAX_TOOLS = 1000

/** Members of an object of JSON. */
export type Fields = Readonly<Record<string, unknown>>

/** An object of JSON, whatever it holds. */
export const object: v.GenericSchema<unknown, Fields> = v.custom<Fields>(isObject, 'must be an object')

/** Messages or items. */
export const objects: v.GenericSchema<unknown, Fields[]> = list(object, MAX_ITEMS)

/** What both bodies have, without nulls. */
export interface CommonBody {
  readonly model: string
  readonly stream?: boolean | undefined
  readonly tools?: readonly Fields[] | undefined
  readonly tool_choice?: unknown
}

type Maybe<T> = v.OptionalSchema<v.GenericSchema<unknown, T>, undefined>

/** The fields of both. */
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
 * The tools of the client; undefined for none. Tools of a provider are left out. Throws `invalid_body` where one must be called: an
 * agent chooses itself.
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

/** Whether the answer is to be JSON. Throws `invalid_body` for an agent that has no structured output. */
export function asksJson(format: unknown, { servable }: Target, path: string): boolean {
  if (!isJsonFormat(format)) return false
  if ('output' in servable && servable.output !== undefined) return true
  throw misfit(path, 'must be `text`: the model has no structured output')
}

/** Whether a format is of JSON. */
export function isJsonFormat(format: unknown): boolean {
  return (Object(format).type ?? 'text') !== 'text'
}
