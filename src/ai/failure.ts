import { APICallError, NoObjectGeneratedError, RetryError } from 'ai'
import { isServableError, messageOf, ServableError } from '../errors.ts'

/** What looks like a provider's key: the text of a refusal may repeat the one that it refuses. */
const KEY = /\b(?:sk|pk|rk|key|gsk|xai|AIza)[-_]?[\w*.-]{12,}/g

/** Most characters of a provider's own words. */
const MAX_TEXT = 500

/** A failure of a model's provider as `provider_failed`; in production nothing of its text is shown. */
export function providerFailure(error: unknown): ServableError {
  if (isServableError(error)) return error
  const cause = RetryError.isInstance(error) ? error.lastError : error
  if (NoObjectGeneratedError.isInstance(cause)) {
    return new ServableError('agent_failed', 'The model gave no output that fits the schema', {
      cause: error,
    })
  }
  const status = APICallError.isInstance(cause) ? cause.statusCode : undefined
  const text = messageOf(cause).replace(KEY, '[redacted]').slice(0, MAX_TEXT)
  return new ServableError(
    'provider_failed',
    `The model provider failed${status === undefined || status < 400 ? '' : ` (HTTP ${status})`}: ${text}`,
    { cause: error },
  )
}
