/** Forms for values of a JSON Schema: answers to questions, and the arguments of tools. */

import { misfitOf } from '../../src/agents/misfit.ts'

/** A field of a form. */
export interface Field {
  /** The member of the object; empty for a value that is not an object. */
  readonly name: string
  readonly label: string
  readonly kind: 'text' | 'number' | 'boolean' | 'choice' | 'json'
  readonly choices: readonly unknown[]
  readonly isRequired: boolean
}

/** The fields of a JSON Schema. A schema that is too complex for a form becomes one JSON field with that name. */
export function fieldsOf(schema: unknown, name: string): readonly Field[] {
  const { type, properties, required, title = name } = Object(schema) as Schema
  if (type !== 'object' || properties === undefined) return [fieldOf('', title, schema, true)]
  const fields = Object.entries(properties).map(([name, each]) => {
    const isRequired = Array.isArray(required) && required.includes(name)
    return fieldOf(name, String(Object(each).title ?? name), each, isRequired)
  })
  const isSimple = fields.every(({ kind }) => kind !== 'json')
  return isSimple ? fields : [{ ...fieldOf('', name, {}, true), kind: 'json' }]
}

/** The value of a form. `read` returns the text of a field; for a checkbox `true` or nothing. Throws for invalid JSON. */
export function formValue(fields: readonly Field[], read: (field: Field) => string): unknown {
  const given = fields.flatMap(field => {
    const text = read(field)
    const isAbsent = text === '' && !field.isRequired && field.kind !== 'boolean'
    return isAbsent ? [] : [[field.name, valueIn(field, text)] as const]
  })
  const [first] = fields
  return first?.name === '' ? given[0]?.[1] : Object.fromEntries(given)
}

/**
 * Why a value does not match a JSON Schema, and at which path. It checks types, required members, choices, and nested members and
 * items. Undefined if these match; the service checks the rest.
 */
export function misfitIn(value: unknown, schema: unknown, path = ''): string | undefined {
  const { type, required, enum: choices } = Object(schema) as Schema
  const isChoice = !Array.isArray(choices) || choices.includes(value)
  const why = misfitOf(value, { type, required }) ?? (isChoice ? undefined : NO_CHOICE)
  if (why !== undefined) return path === '' ? why : `\`${path}\`: ${why}`
  for (const [key, inner, expected] of partsOf(value, Object(schema))) {
    const misfit = misfitIn(inner, expected, path === '' ? key : `${path}.${key}`)
    if (misfit !== undefined) return misfit
  }
  return undefined
}

/** The members or items of a value that the schema describes. */
function partsOf(
  value: unknown,
  { properties, items }: Schema,
): readonly (readonly [string, unknown, unknown])[] {
  if (typeof value !== 'object' || value === null) return []
  const expected = new Map(Object.entries(Object(properties)))
  return Object.entries(value).flatMap(([key, inner]) => {
    const own = Array.isArray(value) ? items : expected.get(key)
    return own === undefined ? [] : [[key, inner, own]]
  })
}

const NO_CHOICE = 'The value is none of the choices'

interface Schema {
  readonly type?: unknown
  readonly items?: unknown
  readonly title?: string
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: unknown
  readonly enum?: unknown
}

function fieldOf(name: string, label: string, schema: unknown, isRequired: boolean): Field {
  const { type, enum: all } = Object(schema) as Schema
  const choices = Array.isArray(all) ? all : []
  return { name, label, isRequired, choices, kind: choices.length > 0 ? 'choice' : kindOf(schema, type) }
}

function kindOf(schema: unknown, type: unknown): Field['kind'] {
  if (schema === undefined || type === 'string') return 'text'
  if (type === 'number' || type === 'integer') return 'number'
  return type === 'boolean' ? 'boolean' : 'json'
}

function valueIn({ kind, choices }: Field, text: string): unknown {
  if (kind === 'text') return text
  if (kind === 'number') return Number(text)
  if (kind === 'boolean') return text === 'true'
  return kind === 'choice' ? choices[Number(text)] : JSON.parse(text)
}
