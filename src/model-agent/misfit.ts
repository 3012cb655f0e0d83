import type { JSONSchema7 } from 'ai'

/** The values of each type in JSON Schema. */
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
 * Why a value does not fit plain JSON Schema. This checks only the value's own type and its required properties, not the
 * content of those properties.
 */
export function misfitOf(value: unknown, { type, required }: JSONSchema7): string | undefined {
  const types = type === undefined ? [] : [type].flat()
  if (types.length > 0 && !types.some(each => TYPES[each]?.(value) ?? true)) {
    return `The value must be of the type ${types.join(' or ')}`
  }
  if (!TYPES.object?.(value)) return undefined
  const missing = (required ?? []).filter(name => !Object.hasOwn(Object(value), name))
  return missing.length === 0
    ? undefined
    : `The value must have ${missing.map(name => `\`${name}\``).join(', ')}`
}
