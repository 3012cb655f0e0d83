/**
 * Tells a model provider's failure from others. Each client has an error class of its own, so it is known by what they
 * have in common.
 *
 * @module
 */

import { isServableError, messageOf, ServableError } from '../errors.ts'
import { withoutKeyText } from '../key-text.ts'
import { fieldsOf } from './fields.ts'

/** Names of errors that stand for a provider's failure without saying its status. */
const NAMES: ReadonlySet<unknown> = new Set([
  'AI_APICallError',
  'AI_RetryError',
  'APIConnectionError',
  'APIConnectionTimeoutError',
])

/** Errors wrap errors; deeper than this nobody looks. */
const MAX_DEPTH = 5

/**
 * What a run fails with: `provider_failed` for a failure of the model's provider, anything else as it was thrown. A text that
 * holds what looks like a key comes without it.
 */
export function failureOf(error: unknown): unknown {
  if (isServableError(error)) return error
  const text = messageOf(error)
  const told = withoutKeyText(text)
  if (isProviderFailure(error, MAX_DEPTH)) return new ServableError('provider_failed', told, { cause: error })
  return told === text ? error : new ServableError('agent_failed', told, { cause: error })
}

function isProviderFailure(error: unknown, depth: number): boolean {
  if (depth === 0) return false
  const { name, status, statusCode, cause, lastError, originalError } = fieldsOf(error)
  if (isFailed(status) || isFailed(statusCode) || NAMES.has(name)) return true
  return [cause, lastError, originalError].some(inner => isProviderFailure(inner, depth - 1))
}

/** Whether it is the HTTP status of a failure. */
function isFailed(status: unknown): boolean {
  return typeof status === 'number' && status >= 400 && status < 600
}
