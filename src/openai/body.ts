/**
 * What the bodies of Chat Completions and of Responses have in common. Fields that are not known are ignored, and so are those for
 * sampling: every client sends some.
 *
 * @module
 */

import * as v from 'valibot'
import type { Target } from '../runs/target.ts'
import { isObject, list, misfit } from '../validation.ts'

/** Most tools of a request that are read. */
const MAX_TOOLS = 1000

/** Members of an object of JSON. */
export type Fields = Readonly<Record<string, unknown>>

/** An object of JSON, whatever it holds. */
export const object: v.GenericSchema<unknown, Fields> = v.custom<Fields>(isObject, 'must be an object')

/** What both bodies have. */
export interface CommonBody extends Fields {
  readonly model: string
  readonly stream?: boolean | null | undefined
  readonly tools?: readonly Fields[] | null | undefined
  readonly tool_choice?: unknown
}

/** The schema of a body with these fields beside the common ones. It keeps what it does not know. */
export function bodyOf<T extends CommonBody>(entries: v.ObjectEntries): v.GenericSchema<unknown, T> {
  const body: v.GenericSchema = v.looseObject({
    model: v.pipe(v.string('must be text'), v.nonEmpty('must not be empty')),
    stream: v.nullish(v.boolean('must be true or false')),
    tools: v.nullish(list(object, MAX_TOOLS)),
    tool_choice: v.nullish(v.unknown()),
    ...entries,
  })
  // The entries have seen to it.
  return body as v.GenericSchema<unknown, T>
}

/**
 * The tools of the client; undefined for none. Tools of a provider are left out. Throws `invalid_body` where one must be called: an
 * agent chooses itself.
 */
export function clientToolsOf({ tools, tool_choice: choice = 'auto' }: CommonBody): Fields[] | undefined {
  if (choice === 'none') return undefined
  if (choice !== null && choice !== 'auto') throw misfit('tool_choice', 'must be `auto` or `none` here')
  const functions = (tools ?? []).flatMap(tool => {
    if (tool.type !== 'function') return []
    const { name, description, parameters } = Object(tool.function ?? tool) as Fields
    const isSchema = isObject(parameters) && parameters.type === 'object'
    return { name, description: description ?? undefined, parameters: isSchema ? parameters : undefined }
  })
  return functions.length === 0 ? undefined : functions
}

/** Whether the answer is to be JSON. Throws `invalid_body` for an agent that has no structured output. */
export function asksJson(format: unknown, { servable }: Target, path: string): boolean {
  const { type = 'text' } = Object(format) as Fields
  if (type === 'text') return false
  if ('output' in servable && servable.output !== undefined) return true
  throw misfit(path, 'must be `text`: this model has no structured output')
}
