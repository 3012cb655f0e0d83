import {
  APICallError,
  InvalidDataContentError,
  NoObjectGeneratedError,
  RetryError,
  UnsupportedFunctionalityError,
} from 'ai'
import { isServableError, messageOf, ServableError, withoutKeyText } from '../../base/errors.ts'

/** The most characters of a provider's error text. */
const MAX_TEXT = 500

/**
 * Makes a failure of a model's provider `provider_failed`, whose text is not shown in production. Output that does not fit the
 * schema is `agent_failed`. Input that the provider's package rejects before a request is `invalid_input`.
 */
export function providerFailure(error: unknown): ServableError {
  if (isServableError(error)) return error
  const cause = RetryError.isInstance(error) ? error.lastError : error
  if (NoObjectGeneratedError.isInstance(cause)) {
    return new ServableError('agent_failed', 'The model gave no output that fits the schema', {
      cause: error,
    })
  }
  if (UnsupportedFunctionalityError.isInstance(cause) || InvalidDataContentError.isInstance(cause)) {
    const text = messageOf(cause).slice(0, MAX_TEXT)
    return new ServableError('invalid_input', `The model does not accept this input: ${text}`, {
      cause: error,
    })
  }
  const status = APICallError.isInstance(cause) ? cause.statusCode : undefined
  const text = withoutKeyText(messageOf(cause)).slice(0, MAX_TEXT)
  return new ServableError(
    'provider_failed',
    `The model provider failed${status === undefined || status < 400 ? '' : ` (HTTP ${status})`}: ${text}`,
    { cause: error },
  )
}

/** Whether the provider refuses a request, for example one that is too long for its model. */
export function isRefusal(error: unknown): boolean {
  const { cause } = Object(error) as { readonly cause?: unknown }
  return APICallError.isInstance(cause) && (cause.statusCode === 400 || cause.statusCode === 413)
}
