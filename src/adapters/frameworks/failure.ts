/**
 * Recognizes failures of model providers. Each client has its own error class, so this checks what the errors have in common.
 *
 * @module
 */

import { isServableError, messageOf, ServableError, withoutKeyText } from '../../base/errors.ts'
import { fieldsOf } from './fields.ts'

/** Names of provider errors that have no status. */
const NAMES: ReadonlySet<unknown> = new Set([
  'AI_APICallError',
  'AI_RetryError',
  'APIConnectionError',
  'APIConnectionTimeoutError',
])

/** The most levels of causes to search. */
const MAX_DEPTH = 5

/**
 * The error with which a run fails: `provider_failed` for a failure of the model's provider, otherwise the error as it was
 * thrown. Text that looks like a key is removed.
 */
export function failureOf(error: unknown): unknown {
  if (isServableError(error)) return error
  const text = messageOf(error)
  const safeText = withoutKeyText(text)
  if (isProviderFailure(error, MAX_DEPTH))
    return new ServableError('provider_failed', safeText, { cause: error })
  return safeText === text ? error : new ServableError('agent_failed', safeText, { cause: error })
}

function isProviderFailure(error: unknown, depth: number): boolean {
  if (depth === 0) return false
  const { name, status, statusCode, cause, lastError, originalError } = fieldsOf(error)
  if (isFailed(status) || isFailed(statusCode) || NAMES.has(name)) return true
  return [cause, lastError, originalError].some(inner => isProviderFailure(inner, depth - 1))
}

/** Whether the value is the HTTP status of a failure. */
function isFailed(status: unknown): boolean {
  return typeof status === 'number' && status >= 400 && status < 600
}
