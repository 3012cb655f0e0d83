/**
 * Whether a value fits a schema.
 *
 * @module
 */

/** A check for each type of JSON Schema. */
const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: value => typeof value === 'object' && value !== null && !Array.isArray(value),
  array: Array.isArray,
  string: value => typeof value === 'string',
  number: value => typeof value === 'number',
  integer: Number.isInteger,
  boolean: value => typeof value === 'boolean',
  null: value => value === null,
}

/**
 * Why a value does not fit plain JSON Schema; undefined if it fits. Checks its own type and that its required properties exist,
 * but not the values of properties.
 */
export function misfitOf(value: unknown, { type, required }: PlainSchema): string | undefined {
  const types = type === undefined ? [] : [type].flat()
  if (types.length > 0 && !types.some(each => TYPES[String(each)]?.(value) ?? true)) {
    return `The value must be of the type ${types.join(' or ')}`
  }
  if (!TYPES.object?.(value)) return undefined
  const names = Array.isArray(required) ? required.map(String) : []
  const missing = names.filter(name => !Object.hasOwn(Object(value), name))
  return missing.length === 0
    ? undefined
    : `The value must have ${missing.map(name => `\`${name}\``).join(', ')}`
}

/** The members of JSON Schema that are checked. */
export interface PlainSchema {
  readonly type?: unknown
  readonly required?: unknown
}

/** The part of Standard Schema that is used (`standardschema.dev`, with its JSON Schema extension). */
interface Standard {
  validate?(value: unknown): unknown
  readonly jsonSchema?: { input?(options: { target: string }): unknown }
}

function standardOf(schema: unknown): Standard | undefined {
  return (Object(schema) as { readonly '~standard'?: Standard })['~standard']
}

/**
 * Returns the value as the schema returns it, or why it does not fit. A Standard Schema checks the whole value. Plain JSON Schema
 * is checked as in {@link misfitOf}. Without a schema any value fits.
 */
export async function fitOf(
  value: unknown,
  schema: unknown,
): Promise<{ readonly value: unknown } | { readonly misfit: string }> {
  const standard = standardOf(schema)
  if (standard?.validate === undefined) {
    const misfit = misfitOf(value, Object(schema) as PlainSchema)
    return misfit === undefined ? { value } : { misfit }
  }
  const result = (await standard.validate(value)) as {
    readonly issues?: readonly Issue[]
    readonly value?: unknown
  }
  if (result.issues === undefined) return { value: result.value }
  return { misfit: result.issues.slice(0, MAX_ISSUES).map(textOf).join('; ') }
}

/** An issue of Standard Schema. Each part of the path is a key, or an object with one. */
interface Issue {
  readonly message: string
  readonly path?: readonly unknown[] | undefined
}

/** The most issues that are reported for one value. */
const MAX_ISSUES = 5

function textOf({ message, path = [] }: Issue): string {
  const keys = path.map(part => String(Object(part).key ?? part))
  return keys.length === 0 ? message : `\`${keys.join('.')}\`: ${message}`
}

/** The schema that clients see: plain JSON Schema, or the one that a library's schema offers. Undefined if there is none. */
export function shownSchema(schema: unknown): unknown {
  const standard = standardOf(schema)
  return standard === undefined ? schema : standard.jsonSchema?.input?.({ target: 'draft-2020-12' })
}
