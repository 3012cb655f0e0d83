/**
 * JSON Schema of a value: plain JSON Schema, or a library's schema that offers one.
 *
 * @module
 */

import { toJsonSchema as ofValibot } from '@valibot/to-json-schema'
import { isObject } from '../base/validation.ts'

/** A schema as JSON. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The part of Standard Schema that is used (`standardschema.dev`, with its JSON Schema extension). */
interface Standard {
  readonly vendor?: unknown
  readonly jsonSchema?: { input?(options: { target: string }): unknown }
}

/**
 * The JSON Schema (draft 2020-12, or plain JSON Schema unchanged) of a schema; null if it offers none. Accepts plain JSON Schema,
 * valibot, and every library with Standard Schema's `jsonSchema`, such as zod.
 */
export function toJsonSchema(schema: unknown): JsonSchema | null {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return null
  try {
    const standard = (schema as { '~standard'?: Standard })['~standard']
    if (standard === undefined) return isPlain(schema) ? schema : null
    if (standard.jsonSchema?.input !== undefined) {
      return asSchema(standard.jsonSchema.input({ target: 'draft-2020-12' }))
    }
    return standard.vendor === 'valibot'
      ? asSchema(ofValibot(schema as Parameters<typeof ofValibot>[0], { errorMode: 'ignore' }))
      : null
  } catch {
    // JSON Schema cannot express this schema.
    return null
  }
}

/** Whether it is a plain object of JSON, not an instance of a class. */
function isPlain(schema: object): schema is JsonSchema {
  const prototype = Object.getPrototypeOf(schema)
  return isObject(schema) && (prototype === Object.prototype || prototype === null) && isJson(schema)
}

function isJson(value: object): boolean {
  return JSON.stringify(value) !== undefined
}

function asSchema(value: unknown): JsonSchema | null {
  return isObject(value) ? value : null
}
