/**
 * The schemas of fields in requests, for every wire. Each error text says what the field must be.
 *
 * @module
 */

import * as v from 'valibot'
import type { Metadata } from '../../../agents/run-types.ts'
import { isObject, list } from '../../../base/validation.ts'

/** Largest value of a field of 32 bits. */
const INT32_MAX = 2_147_483_647

/** Any text. */
export const text: v.GenericSchema<unknown, string> = v.string('must be a string')

/** Text that must be given. As in protocol buffers, empty text counts as missing. */
export const required: v.GenericSchema<unknown, string> = v.pipe(text, v.nonEmpty('must not be empty'))

/** Optional text. Empty text becomes undefined. */
export const optionalText: v.OptionalSchema<
  v.GenericSchema<unknown, string | undefined>,
  undefined
> = v.optional(
  v.pipe(
    text,
    v.transform(value => (value === '' ? undefined : value)),
  ),
)

/** Spaces and control characters, which parsers of URLs leave out of a scheme. */
const IGNORED = /[\0-\x20]/g

/** Whether a URL would run as a script where a page shows it as a link. */
export function isScript(url: string): boolean {
  return /^(javascript|vbscript):/i.test(url.slice(0, 1000).replace(IGNORED, ''))
}

/** The URL of a part. Scripts are refused. */
export const partUrl: v.GenericSchema<unknown, string> = v.pipe(
  required,
  v.check(url => !isScript(url), 'must not be a script'),
)

/** A list of strings: ids of extensions or tasks, or media types. */
export const texts: v.GenericSchema<unknown, string[]> = list(text, 100, 'must be an array of strings')

/** A JSON object. It is passed on unchanged. */
export const anyObject: v.GenericSchema<unknown, Metadata> = v.custom<Metadata>(
  isObject,
  'must be a JSON object',
)

/** A boolean. */
export const flag: v.GenericSchema<unknown, boolean> = v.boolean('must be true or false')

const TRUTH: Readonly<Record<string, boolean>> = { true: true, false: false }

/** A boolean, or the text of one in a query parameter (specification, section 11.5). */
export const queryFlag: v.GenericSchema<unknown, boolean> = v.pipe(
  v.unknown(),
  v.transform(value => (typeof value === 'string' && Object.hasOwn(TRUTH, value) ? TRUTH[value] : value)),
  flag,
)

/** A whole number from `min` to `max`. */
export function count(min: number, max: number = INT32_MAX): v.GenericSchema<unknown, number> {
  const expected = max === INT32_MAX ? `of ${min} or more` : `from ${min} to ${max}`
  const message = `must be a whole number ${expected}`
  return v.pipe(
    v.number(message),
    v.integer(message),
    v.minValue(min, message),
    v.maxValue(max, message),
    // Adding 0 turns -0, which JSON can contain, into 0.
    v.transform(value => value + 0),
  )
}

/** Like {@link count}, but also accepts decimal text, as proto-JSON and query parameters allow (section 11.5). */
export function protoCount(min: number, max?: number): v.GenericSchema<unknown, number> {
  return v.pipe(
    v.unknown(),
    v.transform(value => (typeof value === 'string' && /^-?\d{1,10}$/.test(value) ? Number(value) : value)),
    count(min, max),
  )
}

/** One of the names in `table`. The output is the key of that name. */
export function oneOf<K extends string>(table: Readonly<Record<K, string>>): v.GenericSchema<unknown, K> {
  const keys = new Map(Object.entries<string>(table).map(([key, name]) => [name, key as K]))
  const names = [...keys.keys()].map(name => `\`${name}\``)
  return v.pipe(
    v.custom<string>(
      value => typeof value === 'string' && keys.has(value),
      `must be one of ${names.join(', ')}`,
    ),
    v.transform(name => keys.get(name) as K),
  )
}

/**
 * Base64 in the standard or the URL-safe alphabet, with or without padding, as proto-JSON accepts it. The output is in the
 * standard alphabet, with padding.
 */
export const base64: v.GenericSchema<unknown, string> = v.pipe(
  text,
  v.transform(standardBase64),
  v.string('must be base64'),
)

function standardBase64(value: string): string | undefined {
  const digits = value
    .replace(/={1,2}$/, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
  const isBase64 = /^[A-Za-z0-9+/]*$/.test(digits) && digits.length % 4 !== 1
  return isBase64 ? digits.padEnd(Math.ceil(digits.length / 4) * 4, '=') : undefined
}
