/**
 * What the bodies of protocols that offer models share.
 *
 * @module
 */

import * as v from 'valibot'
import type { Target } from '../../core-entry.ts'
import { isObject, list, misfit } from '../encoders/index.ts'

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

/** Tools. */
export const tools: v.GenericSchema<unknown, Fields[]> = list(object, MAX_TOOLS)

/** A tool of the client, not checked yet. A schema that is no schema of an object is left out. */
export function clientToolOf({ name, description }: Fields, parameters: unknown): Fields {
  const isSchema = isObject(parameters) && parameters.type === 'object'
  return { name, description: description ?? undefined, parameters: isSchema ? parameters : undefined }
}

/** Throws `invalid_body` for an agent that has no structured output. `path` names the field that asks for it. */
export function checkOutput({ servable }: Target, path: string, wanted: string): void {
  if ('output' in servable && servable.output !== undefined) return
  throw misfit(path, `must be ${wanted}: the model has no structured output`)
}

/** A text that is not empty. Throws `invalid_body` for anything else. */
export function textIn(value: unknown, path: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw misfit(path, 'must be text')
}
