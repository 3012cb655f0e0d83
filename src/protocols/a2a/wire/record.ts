/**
 * Schemas of JSON objects. Unknown fields are ignored (specification, section 5.7). A field that is `null` counts as not
 * set.
 *
 * @module
 */

import * as v from 'valibot'
import { anyObject } from './fields.ts'

/** Makes the schema of an object from its fields. `nulls` names the fields in which `null` is a value. */
export type RecordOf = <E extends v.ObjectEntries>(
  entries: E,
  nulls?: readonly string[],
) => v.GenericSchema<unknown, v.InferOutput<v.ObjectSchema<E, undefined>>>

/** Objects of JSON Schema. Each field has one name. */
export const jsonRecord: RecordOf = recordOf(field => [field])

/** Objects of proto-JSON. Each field has a camelCase name and its original snake_case name. */
export const protoRecord: RecordOf = recordOf(field => [field, snakeCase(field)])

function recordOf(namesOf: (field: string) => readonly string[]): RecordOf {
  return (entries, nulls = []) => {
    const fields = Object.keys(entries).map(field => ({
      field,
      names: namesOf(field),
      takesNull: nulls.includes(field),
    }))
    return v.pipe(
      anyObject,
      v.transform(value => pick(value, fields)),
      v.object(entries),
    )
  }
}

interface Field {
  readonly field: string
  readonly names: readonly string[]
  readonly takesNull: boolean
}

function pick(value: Readonly<Record<string, unknown>>, fields: readonly Field[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {}
  for (const { field, names, takesNull } of fields) {
    const name = names.find(name => Object.hasOwn(value, name) && (takesNull || value[name] !== null))
    if (name !== undefined && value[name] !== undefined) picked[field] = value[name]
  }
  return picked
}

function snakeCase(field: string): string {
  return field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

/** Checks that exactly one of `names` is given, as in a `oneof` of protocol buffers. */
export function exactlyOne<T extends object>(...names: readonly string[]): v.CheckAction<T, string> {
  const list = names.map(name => `\`${name}\``).join(', ')
  return v.check(
    value => names.filter(name => Object.hasOwn(value, name)).length === 1,
    `must have exactly one of ${list}`,
  )
}

/** Turns missing parameters into an empty object. */
export function orEmpty(params: unknown): unknown {
  return params ?? {}
}

/** Returns the members that are set. Undefined, empty text and empty arrays are left out. */
export function compact(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept: Record<string, unknown> = {}
  for (const name in members) if (isSet(members[name])) kept[name] = members[name]
  return kept
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0)
}
