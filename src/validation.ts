/**
 * Checks unknown values against valibot schemas and says what to mend, without repeating the value.
 *
 * @module
 */

import * as v from 'valibot'
import { type ErrorCode, type Issue, ServableError } from './errors.ts'

/** Whether a value is an object as JSON has them: neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return Object.prototype.toString.call(value) === '[object Object]'
}

/** The name of a header (RFC 9110, 5.1). */
export const headerName: v.GenericSchema<string> = v.pipe(
  v.string(),
  v.regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be a header name'),
)

/** The checked value. Throws a `ServableError` with `code` that names every wrong field; `whole` names the value itself. */
export function validate<T>(
  schema: v.GenericSchema<unknown, T>,
  value: unknown,
  code: ErrorCode,
  whole: string,
): T {
  const result = v.safeParse(schema, value)
  if (result.success) return result.output
  const issues = result.issues.map(toIssue)
  const text = issues.map(({ path, message }) => `\`${path === '' ? whole : path}\` ${message}`)
  throw new ServableError(code, text.slice(0, 5).join('; '), { issues })
}

/**
 * A union's own issue says little: of the issues inside it the one that got furthest says what to mend. Paths inside
 * a union are relative to it.
 */
function toIssue(issue: v.BaseIssue<unknown>): Issue {
  const path = v.getDotPath(issue) ?? ''
  const inner = issue.issues?.map(toIssue).reduce(furthest)
  if (inner === undefined || inner.path === '') return { path, message: messageOf(issue) }
  return { path: path === '' ? inner.path : `${path}.${inner.path}`, message: inner.message }
}

function furthest(best: Issue, next: Issue): Issue {
  const isFurther = best.path === '' || next.path.split('.').length > best.path.split('.').length
  return isFurther ? next : best
}

/** The schema's own message; a plain one in place of valibot's, which would repeat what the client sent. */
function messageOf(issue: v.BaseIssue<unknown>): string {
  if (!issue.message.startsWith('Invalid ')) return issue.message
  if (issue.expected === 'never') return 'is not known here'
  if (issue.path?.at(-1)?.origin === 'key') return 'is missing'
  return `must be ${issue.expected ?? 'something else'}`
}
