import type { ErrorCode, Issue } from '../base/errors.ts'

/**
 * The code of a failure. The service has its own codes ({@link ErrorCode}); a newer service may have more. The client adds
 * these:
 * - `network_error`: no answer came, or it broke off
 * - `invalid_response`: the answer is not a service's (a proxy, a wrong `baseUrl`)
 * - `stream_broken`: a stream broke off before its end and could not continue
 * - `timeout`: `timeoutMs` passed
 * - `invalid_options`: the client is used in a way that cannot work
 */
export type ServableClientErrorCode =
  | ErrorCode
  | 'network_error'
  | 'invalid_response'
  | 'stream_broken'
  | 'timeout'
  | (string & {})

/** Optional details of a client error. */
export interface ServableClientErrorOptions extends ErrorOptions {
  /** The HTTP status of the answer. */
  readonly status?: number | undefined
  /** The id under which the service logged the request. */
  readonly requestId?: string | undefined
  /** The invalid fields. */
  readonly issues?: readonly Issue[] | undefined
  /** Milliseconds to wait before the next request. */
  readonly retryAfter?: number | undefined
  /** The run that failed, or that the request concerns. */
  readonly runId?: string | undefined
}

/**
 * Every failure of the client except an abort, which rejects with the signal's own reason. Match `code`, never the message.
 * Messages and issues never contain the client's keys.
 *
 * @example
 * try {
 *   await client.agent('echo').run('Hello')
 * } catch (error) {
 *   if (error instanceof ServableClientError && error.code === 'rate_limited') await wait(error.retryAfter)
 * }
 */
export class ServableClientError extends Error {
  override readonly name = 'ServableClientError'
  /** The stable code of the failure. */
  readonly code: ServableClientErrorCode
  /** The HTTP status. Undefined if no answer came, or if an event or a record reported the failure. */
  declare readonly status: number | undefined
  /** The id under which the service logged the request (`x-request-id`), if the answer had one. */
  declare readonly requestId: string | undefined
  /** The invalid fields. Empty unless the service refused the body or the query. */
  readonly issues: readonly Issue[] = []
  /** Milliseconds to wait before the next request (`Retry-After`), if the answer had it. */
  declare readonly retryAfter: number | undefined
  /** The run of the failure, if it has begun. `client.runs` can read it. */
  declare readonly runId: string | undefined

  constructor(
    code: ServableClientErrorCode,
    message: string,
    { cause, ...more }: ServableClientErrorOptions = {},
  ) {
    super(message, { cause })
    Object.assign(this, more)
    this.code = code
  }
}

/** The connection was lost. */
export function brokeOff(cause?: unknown): ServableClientError {
  return new ServableClientError('network_error', 'The connection was lost', { cause })
}

/** The answer does not come from a service. */
export function invalidResponse(message: string, more?: ServableClientErrorOptions): ServableClientError {
  return new ServableClientError('invalid_response', message, more)
}

/** The same failure with the run's id. For a stream, a lost connection becomes `stream_broken`. */
export function aboutRun(error: unknown, runId: string | undefined, isStream = false): unknown {
  if (error instanceof ServableClientError && runId) {
    if (isStream && mayPass(error)) {
      return new ServableClientError('stream_broken', 'The stream was cut off', {
        ...error,
        cause: error,
        runId,
      })
    }
    Object.assign(error, { runId })
  }
  return error
}

/**
 * Whether another try may help: no answer came, there were too many requests, or the service or its state could not be
 * reached.
 */
export function mayPass({ code, status, cause }: ServableClientError): boolean {
  // A 502 or 504 with an error code is the answer of a run whose provider failed, or whose time was up. Chromium treats an
  // answer that breaks off in its head as complete, with fewer fields and no body. An answer that is a page has a `cause`.
  const isLost = code === 'invalid_response' && !cause && /^(2..|50[2-4])$/.test(`${status}`)
  // A pause ends when an operator says so.
  const isBusy = status === 429 || (status === 503 && code !== 'agent_paused')
  return isLost || code === 'network_error' || isBusy
}
