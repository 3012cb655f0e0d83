/**
 * The errors of remote agents, and the errors with which their runs fail.
 *
 * @module
 */

import { isServableError, messageOf, redact, ServableError } from '../../base/errors.ts'

/** The connection failed or went silent, so that another try may succeed. */
export class LostError extends Error {
  override readonly name = 'LostError'
}

/** Most characters of an error's text, which may repeat text of a remote agent. */
const MAX_TEXT = 1000

/** Most levels of causes to search. */
const MAX_DEPTH = 5

/** The remote agent, or the connection to it, failed. */
export function failed(text: string, cause?: unknown): ServableError {
  return new ServableError('provider_failed', text.slice(0, MAX_TEXT), { cause })
}

/** The remote agent answered something that is not A2A, or more than is allowed. */
export function unfit(text: string, cause?: unknown): ServableError {
  return new ServableError('invalid_agent_response', `The remote agent ${text}`.slice(0, MAX_TEXT), { cause })
}

/** The error for a message that may or may not have reached the remote agent. */
export function unknowable(): ServableError {
  return new ServableError(
    'interrupted',
    'This service stopped while a message was sent to the remote agent. Whether it arrived is not known, so it is not sent again',
  )
}

/** The reason of an A2A error, such as `TASK_NOT_FOUND`. Undefined for any other error. */
export function reasonOf(error: unknown): string | undefined {
  return inCauses(error, ({ reason }) => (typeof reason === 'string' ? reason : undefined))
}

/** JSON-RPC's code for an unknown method. */
const METHOD_NOT_FOUND = -32601

/**
 * Whether the service does not know the method, so that it has done nothing. Other refusals do not prove that: some services
 * begin to work before they refuse a stream.
 */
export function isUnknownMethod(error: unknown): boolean {
  return inCauses(error, ({ envelopeCode }) => envelopeCode) === METHOD_NOT_FOUND
}

/** Whether another try may succeed. */
export function isLost(error: unknown): boolean {
  return inCauses(error, cause => (cause instanceof LostError ? true : undefined)) === true
}

/** The error with which a run fails. `secrets` are cut out of its text. */
export function runErrorOf(error: unknown, secrets: Iterable<string>): unknown {
  const own = inCauses(error, cause => (isServableError(cause) ? cause : undefined))
  if (own !== undefined)
    return new ServableError(own.code, redact(own.message, secrets), { cause: own.cause })
  const text = redact(messageOf(error), secrets)
  if (isLost(error) || reasonOf(error) !== undefined) return failed(`The remote agent failed: ${text}`)
  return unfit(`answered something that is not A2A: ${text}`)
}

/** The first value that `look` finds in an error or its causes. */
function inCauses<T>(
  error: unknown,
  look: (error: { readonly reason?: unknown; readonly envelopeCode?: unknown }) => T | undefined,
): T | undefined {
  for (let each = error, depth = 0; depth < MAX_DEPTH && Object(each) === each; depth++) {
    const found = look(each as object)
    if (found !== undefined) return found
    each = (each as { readonly cause?: unknown }).cause
  }
  return undefined
}
