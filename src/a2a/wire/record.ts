/**
 * JSON objects by their fields: unknown fields are ignored (specification, section 5.7), a field that is `null` is
 * not set.
 *
 * @module
 */

import * as v from 'valibot'
import { anyObject } from './fields.ts'

/** Makes the schema of an object from its fields. `nulls` names the fields where `null` is a value. */
export type RecordOf = <E extends v.ObjectEntries>(
  entries: E,
  nulls?: readonly string[],
) => v.GenericSchema<unknown, v.InferOutput<v.ObjectSchema<E, undefined>>>

/** Objects of JSON Schema: fields by their one name. */
export const jsonRecord: RecordOf = recordOf(field => [field])

/** Objects of proto-JSON: fields by their camelCase or their original snake_case name. */
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

/** Checks that exactly one of `names` is there, as in a `oneof` of protocol buffers. */
export function exactlyOne<T extends object>(...names: readonly string[]): v.CheckAction<T, string> {
  const list = names.map(name => `\`${name}\``).join(', ')
  return v.check(
    value => names.filter(name => Object.hasOwn(value, name)).length === 1,
    `must have exactly one of ${list}`,
  )
}

/** No parameters at all are an empty object of them. */
export function orEmpty(params: unknown): unknown {
  return params ?? {}
}

/** The members that are set: without those that are undefined, empty text or an empty array. */
export function compact(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept: Record<string, unknown> = {}
  for (const name in members) if (isSet(members[name])) kept[name] = members[name]
  return kept
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0)
}
