/**
 * Checks unknown values against valibot schemas. Errors tell what to correct, without repeating the value.
 *
 * @module
 */

import * as v from 'valibot'
import { type ErrorCode, type Issue, ServableError } from './errors.ts'

/** Whether a value is a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return Object.prototype.toString.call(value) === '[object Object]'
}

/** The name of a header (RFC 9110, 5.1). */
export const headerName: v.GenericSchema<string> = v.pipe(
  v.string(),
  v.regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be a header name'),
)

/** The most fields that one error of a client names. */
const MAX_ISSUES = 5

/** The most values of a body that is small enough to be checked twice. */
const FEW_VALUES = 1000

/**
 * An array with at most `max` items. Its length is checked first, so no item of a longer one is checked. `message` is the text
 * for a value that is not an array.
 */
export function list<T>(
  item: v.GenericSchema<unknown, T>,
  max: number,
  message: string = 'must be an array',
): v.GenericSchema<unknown, T[]> {
  const bound = `must have at most ${max} entries`
  return v.pipe(
    v.custom<unknown[]>(Array.isArray, message),
    v.check(({ length }) => length <= max, bound),
    v.array(item),
    // The same limit for documents, which do not read the check above.
    v.maxLength(max, bound),
  )
}

/** The parameters of a query for one page of a list. `limit` is 1 to 100. Default: 50. */
export const paging: {
  readonly cursor: v.OptionalSchema<v.StringSchema<undefined>, undefined>
  readonly limit: v.OptionalSchema<v.GenericSchema<string, number>, '50'>
} = {
  cursor: v.optional(v.string()),
  limit: v.optional(
    v.pipe(v.string(), v.regex(/^([1-9]\d?|100)$/, 'must be 1 to 100'), v.transform(Number)),
    '50',
  ),
}

/** A text to search for: 1 to 200 characters. */
export const searched: v.OptionalSchema<v.GenericSchema<string>, undefined> = v.optional(
  v.pipe(
    v.string(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(200, 'must have at most 200 characters'),
  ),
)

const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/

/** A time in the form of RFC 3339. The output is milliseconds since 1970. */
export const moment: v.GenericSchema<unknown, number> = v.pipe(
  v.string('must be a string'),
  v.transform(millisecondsOf),
  v.number('must be a timestamp such as 2026-01-31T12:00:00.000Z'),
)

function millisecondsOf(value: string): number | undefined {
  const [, year, month, day] = TIMESTAMP.exec(value) ?? []
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  // Parsers may accept February 30 as March 2.
  const isDay = date.getUTCDate() === Number(day) && date.getUTCMonth() === Number(month) - 1
  const time = isDay ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

/** The error for a field of a body. */
export function misfit(path: string, message: string): ServableError {
  return new ServableError('invalid_body', `\`${path}\` ${message}`, { issues: [{ path, message }] })
}

/**
 * Returns the checked value. Throws a `ServableError` with `code` that names at most five wrong fields; `whole` names the value
 * itself. A large value is checked only up to its first mistake.
 */
export function validate<T>(
  schema: v.GenericSchema<unknown, T>,
  value: unknown,
  code: ErrorCode,
  whole: string,
): T {
  const result = v.safeParse(schema, value, { abortEarly: true })
  if (result.success) return result.output
  // A deployment gets all mistakes of its own options.
  const isOurs = code === 'invalid_options'
  const { issues: found = result.issues } =
    isOurs || hasFewValues(value) ? v.safeParse(schema, value) : result
  const issues = found.slice(0, isOurs ? undefined : MAX_ISSUES).map(toIssue)
  const text = issues.map(({ path, message }) => `\`${path === '' ? whole : path}\` ${message}`)
  throw new ServableError(code, text.slice(0, MAX_ISSUES).join('; '), { issues })
}

function isParent(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** Whether a value has few values inside. It stops counting when there are more. */
function hasFewValues(value: unknown): boolean {
  const waiting = [value]
  let count = 0
  while (waiting.length > 0) {
    const next = waiting.pop()
    // The members of a text are its characters, each a text again.
    if (!isParent(next)) continue
    if (Array.isArray(next) && next.length > FEW_VALUES) return false
    for (const name in next) {
      if (++count > FEW_VALUES) return false
      waiting.push(next[name])
    }
  }
  return true
}

/**
 * Converts an issue. A union's own issue is vague, so the issue inside it that got furthest is used. Paths inside a union are
 * relative to it.
 */
function toIssue(issue: v.BaseIssue<unknown>): Issue {
  const path = v.getDotPath(issue) ?? ''
  const best = issue.issues?.reduce(furthest)
  if (best === undefined || depthOf(best) === 0) return { path, message: messageOf(issue) }
  const inner = toIssue(best)
  return { path: [path, inner.path].filter(Boolean).join('.'), message: inner.message }
}

function furthest(best: v.BaseIssue<unknown>, next: v.BaseIssue<unknown>): v.BaseIssue<unknown> {
  return depthOf(next) > depthOf(best) ? next : best
}

/** How far a check got. A value of the right type with a wrong content got further than a value of another type. */
function depthOf({ kind, path, issues }: v.BaseIssue<unknown>): number {
  const isWrongValue = kind === 'validation' ? 0.5 : 0
  return (path?.length ?? 0) + isWrongValue + Math.max(0, ...(issues?.map(depthOf) ?? []))
}

/** The schema's own message. Valibot's would repeat what the client sent, so it is replaced by a plain one. */
function messageOf(issue: v.BaseIssue<unknown>): string {
  if (!issue.message.startsWith('Invalid ')) return issue.message
  if (issue.expected === 'never') return 'is not a known field'
  if (issue.path?.at(-1)?.origin === 'key') return 'is missing'
  return `must be ${issue.expected ?? 'something else'}`
}
