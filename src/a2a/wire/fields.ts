/**
 * The kinds of fields that requests are made of, on every wire: each says what to send instead.
 *
 * @module
 */

import * as v from 'valibot'
import { isObject, list } from '../../validation.ts'
import type { Metadata } from '../model.ts'

/** Largest value of a field of 32 bits. */
const INT32_MAX = 2_147_483_647

/** Any text. */
export const text: v.GenericSchema<unknown, string> = v.string('must be a string')

/** Text that must be there: an empty one counts as missing, as in protocol buffers. */
export const required: v.GenericSchema<unknown, string> = v.pipe(text, v.nonEmpty('must not be empty'))

/** Text that may be left out; an empty one is left out. */
export const optionalText: v.OptionalSchema<
  v.GenericSchema<unknown, string | undefined>,
  undefined
> = v.optional(
  v.pipe(
    text,
    v.transform(value => (value === '' ? undefined : value)),
  ),
)

/** A list of text: the ids of extensions or tasks, media types. */
export const texts: v.GenericSchema<unknown, string[]> = list(text, 100, 'must be an array of strings')

/** A JSON object, passed on untouched. */
export const anyObject: v.GenericSchema<unknown, Metadata> = v.custom<Metadata>(
  isObject,
  'must be a JSON object',
)

/** True or false. */
export const flag: v.GenericSchema<unknown, boolean> = v.boolean('must be true or false')

const TRUTH: Readonly<Record<string, boolean>> = { true: true, false: false }

/** True or false, also as the text of a query parameter (specification, section 11.5). */
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
    // -0 is a number that JSON can hold.
    v.transform(value => value + 0),
  )
}

/** As {@link count}, also as decimal text, which proto-JSON and query parameters allow (section 11.5). */
export function protoCount(min: number, max?: number): v.GenericSchema<unknown, number> {
  return v.pipe(
    v.unknown(),
    v.transform(value => (typeof value === 'string' && /^-?\d{1,10}$/.test(value) ? Number(value) : value)),
    count(min, max),
  )
}

/** One of the names of `table`, told as the key that stands for it. */
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
 * Base64 in the standard or the URL-safe alphabet, padded or not, as proto-JSON takes it; told in the standard
 * alphabet, padded.
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

const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/

/** A moment as RFC 3339 writes it, told in milliseconds since 1970 (specification, section 5.6.1). */
export const moment: v.GenericSchema<unknown, number> = v.pipe(
  text,
  v.transform(millisecondsOf),
  v.number('must be a timestamp such as 2026-01-31T12:00:00.000Z'),
)

function millisecondsOf(value: string): number | undefined {
  const [, year, month, day] = TIMESTAMP.exec(value) ?? []
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  // A parser may take February 30 for March 2.
  const isDay = date.getUTCDate() === Number(day) && date.getUTCMonth() === Number(month) - 1
  const time = isDay ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}
