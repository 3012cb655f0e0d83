/** Forms for values of a JSON Schema: answers to questions, and the arguments of tools. */

import { misfitOf } from '../../src/agents/misfit.ts'
import { visible } from '../text.ts'

/** A field of a form. */
export interface Field {
  /** The member of the object; empty for a value that is not an object. */
  readonly name: string
  readonly label: string
  readonly kind: 'text' | 'number' | 'boolean' | 'choice' | 'json'
  readonly choices: readonly unknown[]
  readonly isRequired: boolean
  readonly schema: unknown
  /** What it has at first, where a value is edited. Its value is kept as it is while the text is the same. */
  readonly before?: { readonly text: string; readonly value?: unknown } | undefined
}

/** A value that is edited. */
export interface Edited {
  readonly value: unknown
}

/**
 * The fields of a JSON Schema: one for each member of an object, and for each member that only the edited value has. What is no
 * text, number, boolean or choice is a field with JSON.
 */
export function fieldsOf(schema: unknown, name: string, edited?: Edited): readonly Field[] {
  const { type, properties, required, title = name } = Object(schema) as Schema
  const given = edited && isObject(edited.value) ? new Map(Object.entries(edited.value)) : undefined
  const isWhole = edited ? given === undefined : type !== 'object' || properties === undefined
  // The empty name stands for the whole.
  if (isWhole || given?.has('') || Object.hasOwn(Object(properties), ''))
    return [fieldOf('', title, schema, true, edited && { has: true, value: edited.value })]
  const described = Object.entries(Object(properties)).map(([name, each]) => {
    const isRequired = Array.isArray(required) && required.includes(name)
    const before = given && { has: given.has(name), value: given.get(name) }
    return fieldOf(name, String(Object(each).title ?? name), each, isRequired, before)
  })
  const names = new Set(described.map(field => field.name))
  const others = [...(given ?? [])].filter(([name]) => !names.has(name))
  return [
    ...described,
    ...others.map(([name, value]) =>
      fieldOf(name, name, { type: typeof value }, false, { has: true, value }),
    ),
  ]
}

/** The texts that a form begins with, by the names of fields. */
export function textsOf(fields: readonly Field[]): ReadonlyMap<string, string> {
  return new Map(fields.map(field => [field.name, field.before?.text ?? emptyOf(field)]))
}

function emptyOf({ kind, isRequired }: Field): string {
  if (kind === 'boolean') return 'false'
  return kind === 'choice' && isRequired ? '0' : ''
}

/** The fields whose texts differ from those of the edited value. */
export function changedIn(fields: readonly Field[], texts: ReadonlyMap<string, string>): readonly Field[] {
  return fields.filter(({ name, before }) => before && before.text !== texts.get(name))
}

/** The value of a form, or what is wrong, by the names of fields. What is wrong with the whole has the empty name. */
export type Read = { readonly value: unknown } | { readonly wrong: ReadonlyMap<string, string> }

/** Reads a form, and checks it by the schema. */
export function readForm(
  fields: readonly Field[],
  texts: ReadonlyMap<string, string>,
  schema: unknown,
): Read {
  const wrong = new Map<string, string>()
  const members = new Map<string, unknown>()
  for (const field of fields) {
    const read = readField(field, texts.get(field.name) ?? '')
    if ('wrong' in read) wrong.set(field.name, read.wrong)
    else if ('value' in read) members.set(field.name, read.value)
  }
  if (wrong.size > 0) return { wrong }
  const value = fields[0]?.name === '' ? members.get('') : Object.fromEntries(members)
  const misfit = misfitIn(value, schema)
  return misfit === undefined ? { value } : { wrong: new Map([['', misfit]]) }
}

/** The value of a field, nothing if it is left out, or what is wrong. */
function readField(
  { kind, choices, isRequired, schema, before }: Field,
  text: string,
): { readonly value: unknown } | { readonly wrong: string } | { readonly isLeftOut: true } {
  if (before?.text === text) return 'value' in before ? { value: before.value } : { isLeftOut: true }
  if (text === '') return isRequired ? { wrong: 'Fill this in' } : { isLeftOut: true }
  try {
    const value = valueIn(kind, choices, text)
    const misfit = misfitIn(value, schema)
    return misfit === undefined ? { value } : { wrong: misfit }
  } catch {
    return {
      wrong:
        kind === 'number'
          ? 'This is not a number'
          : 'This is not JSON: look for a missing quote, comma or bracket',
    }
  }
}

/**
 * Why a value does not match a JSON Schema, and at which path. It checks types, required members, choices, bounds, and nested
 * members and items. Undefined if these match; the service checks the rest.
 */
export function misfitIn(value: unknown, schema: unknown, path = ''): string | undefined {
  const { type, required, enum: choices } = Object(schema) as Schema
  const isChoice = !Array.isArray(choices) || choices.includes(value)
  const why = misfitOf(value, { type, required }) ?? (isChoice ? beyond(value, Object(schema)) : NO_CHOICE)
  if (why !== undefined) return path === '' ? why : `\`${path}\`: ${why}`
  for (const [key, inner, expected] of partsOf(value, Object(schema))) {
    const misfit = misfitIn(inner, expected, path === '' ? key : `${path}.${key}`)
    if (misfit !== undefined) return misfit
  }
  return undefined
}

/** Which bound of a number or a text is not kept. */
function beyond(value: unknown, { minimum, maximum, minLength, maxLength }: Schema): string | undefined {
  if (typeof value === 'number') {
    if (typeof minimum === 'number' && value < minimum) return `The value must be at least ${minimum}`
    if (typeof maximum === 'number' && value > maximum) return `The value must be at most ${maximum}`
  }
  if (typeof value === 'string') {
    const { length } = [...value]
    if (typeof minLength === 'number' && length < minLength)
      return `The text has less than ${minLength} characters`
    if (typeof maxLength === 'number' && length > maxLength)
      return `The text has more than ${maxLength} characters`
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
  readonly minimum?: unknown
  readonly maximum?: unknown
  readonly minLength?: unknown
  readonly maxLength?: unknown
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function fieldOf(
  name: string,
  label: string,
  schema: unknown,
  isRequired: boolean,
  before: { readonly has: boolean; readonly value: unknown } | undefined,
): Field {
  const { type, enum: all } = Object(schema) as Schema
  const choices = Array.isArray(all) ? all : []
  const usual = choices.length > 0 ? 'choice' : kindOf(schema, type)
  const kind = before?.has && !canShow(usual, choices, before.value) ? 'json' : usual
  return {
    ...{ name, label, kind, choices, isRequired, schema },
    ...(before && {
      before: before.has ? shownAs(kind, choices, before.value) : { text: NOTHING[kind] ?? '' },
    }),
  }
}

/** The text of a field without a value, where that is not empty. */
const NOTHING: Partial<Record<Field['kind'], string>> = { boolean: 'false' }

function kindOf(schema: unknown, type: unknown): Field['kind'] {
  if (schema === undefined || type === 'string') return 'text'
  if (type === 'number' || type === 'integer') return 'number'
  return type === 'boolean' ? 'boolean' : 'json'
}

/** Whether a field shows a value as it is. Text with invisible characters is shown as JSON, with these escaped. */
function canShow(kind: Field['kind'], choices: readonly unknown[], value: unknown): boolean {
  if (kind === 'choice') return choices.includes(value)
  if (kind === 'text') return typeof value === 'string' && visible(value) === value && !value.includes('\r')
  return kind === 'json' || typeof value === kind
}

function shownAs(
  kind: Field['kind'],
  choices: readonly unknown[],
  value: unknown,
): { readonly text: string; readonly value: unknown } {
  if (kind === 'choice') return { text: String(choices.indexOf(value)), value }
  if (kind === 'json') return { text: visible(JSON.stringify(value, null, 2) ?? ''), value }
  return { text: String(value), value }
}

function valueIn(kind: Field['kind'], choices: readonly unknown[], text: string): unknown {
  if (kind === 'text') return text
  if (kind === 'number') return numberIn(text)
  if (kind === 'boolean') return text === 'true'
  return kind === 'choice' ? choices[Number(text)] : JSON.parse(text)
}

/** Throws for a text that is no number. */
function numberIn(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (!Number.isFinite(value)) throw new TypeError('no number')
  return value
}
