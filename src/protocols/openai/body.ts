/**
 * The fields that the bodies of Chat Completions and of Responses share. Unknown fields are ignored, and so are those for
 * sampling, because every client sends some.
 *
 * @module
 */

import * as v from 'valibot'
import type { Target } from '../../core-entry.ts'
import { flag, misfit } from '../encoders/index.ts'
import { checkOutput, clientToolOf, type Fields, tools } from '../models/body.ts'

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
  tools: v.optional(tools),
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
        const called = Object(tool.function ?? tool) as Fields
        return clientToolOf(called, called.parameters)
      })
}

/** Whether the answer must be JSON. Throws `invalid_body` for an agent that has no structured output. */
export function asksJson(format: unknown, target: Target, path: string): boolean {
  if (!isJsonFormat(format)) return false
  checkOutput(target, path, '`text`')
  return true
}

/** Whether a format is JSON. */
export function isJsonFormat(format: unknown): boolean {
  return (Object(format).type ?? 'text') !== 'text'
}
