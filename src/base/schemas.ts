/**
 * Schemas that the options of many parts share. Their messages tell what to write instead.
 *
 * @module
 */

import * as v from 'valibot'
import { headerName, isObject, validate } from './validation.ts'

/** Whether a value is a function. */
export const isFunction = (value: unknown): boolean => typeof value === 'function'

/** Any function. */
export const func: v.GenericSchema<never> = v.custom<never>(isFunction, 'must be a function')

/** An object of names with any values. */
export const record: v.GenericSchema<Record<string, unknown>> = v.custom<Record<string, unknown>>(
  isObject,
  'must be an object of names and entries',
)

/** A boolean. Values of other types are likely a mistake. */
export const flag: v.GenericSchema<boolean> = v.boolean('must be true or false')

/** A whole number of 1 or more. */
export const count: v.GenericSchema<number> = v.pipe(
  v.number('must be a number'),
  v.integer('must be a whole number'),
  v.minValue(1, 'must be 1 or more'),
)

/** Milliseconds that a timer can wait: timers hold 31 bits of them. */
export const duration: v.GenericSchema<number> = v.pipe(
  count,
  v.maxValue(2 ** 31 - 1, 'must be less than 2^31'),
)

/** An array of texts. */
export const strings: v.GenericSchema<string[]> = v.array(v.string(), 'must be an array of strings')

/** A path of an address, without segments such as `..`. */
export const path: v.GenericSchema<string> = v.pipe(
  v.string(),
  v.regex(/^(?!.*(^|\/)\.{1,2}(\/|$))[\w.~/-]*$/, 'must be a path of letters, digits and -._~/'),
)

/** Whether a text is an origin as browsers send it (RFC 6454, section 6.2): scheme, host and port, and nothing after them. */
export function isOrigin(text: string): boolean {
  return text === 'null' || (URL.canParse(text) && new URL(text).origin === text)
}

/** An array of origins. */
export const origins = (): v.GenericSchema<string[]> =>
  v.array(
    v.pipe(
      v.string(),
      v.check(isOrigin, "must be an origin such as https://app.example.com ('*' stands alone)"),
    ),
  )

/** The setting of `cors`: off, any origin, a list of origins, or in full. */
export const corsSetting = (): v.GenericSchema<unknown> =>
  v.union(
    [
      v.boolean(),
      origins(),
      v.strictObject({
        origins: v.union([v.literal('*'), origins(), func], "must be '*', an array of origins or a function"),
        credentials: v.optional(v.boolean()),
        allowedHeaders: v.optional(v.array(headerName)),
        exposedHeaders: v.optional(v.array(headerName)),
      }),
    ],
    'must be true, false, origins or an object with `origins`',
  )

/** A registry, recognized by its methods. */
export const registry: v.GenericSchema<unknown> = v.custom(
  value => isFunction(Object(value).get) && isFunction(Object(value).all) && isFunction(Object(value).list),
  'must be a Registry or false',
)

/** Checks the options of a part, whose name the error has. Throws `invalid_options`. */
export function checkOptions(name: string, schema: v.GenericSchema<unknown>, options: unknown): void {
  validate(v.strictObject({ [name]: schema }), { [name]: options }, 'invalid_options', name)
}
