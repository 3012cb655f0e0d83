import type { ErrorCode, Issue } from '../errors.ts'

/**
 * The code of a failure. Those of the service are its own ({@link ErrorCode}); a newer service may have more. Of the client:
 * - `network_error`: no answer came, or it broke off
 * - `invalid_response`: what answered does not speak as the service does (a proxy, a wrong `baseUrl`)
 * - `stream_broken`: a stream broke off before its end, and could not be taken up again
 * - `timeout`: `timeoutMs` went by
 * - `invalid_options`: the client is used in a way that cannot work
 */
export type ServableClientErrorCode =
  | ErrorCode
  | 'network_error'
  | 'invalid_response'
  | 'stream_broken'
  | 'timeout'
  | (string & {})

/** What may be told along with an error of the client. */
export interface ServableClientErrorOptions extends ErrorOptions {
  /** The HTTP status, where there was an answer. */
  readonly status?: number | undefined
  /** The id under which the service logged the request. */
  readonly requestId?: string | undefined
  /** The fields that are wrong. */
  readonly issues?: readonly Issue[] | undefined
  /** Milliseconds after which the service may be asked again. */
  readonly retryAfter?: number | undefined
  /** The run that it is about. */
  readonly runId?: string | undefined
}

/**
 * Every failure of the client but an abort, which rejects with the signal's own reason. Match `code`, never the message.
 * Keys that the client was given are in no message and no issue.
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
  /** The HTTP status; undefined where no answer came, or the failure was told by an event or a record. */
  declare readonly status: number | undefined
  /** The id under which the service logged the request (`x-request-id`), where it told one. */
  declare readonly requestId: string | undefined
  /** The fields that are wrong; empty unless the service refused the body or the query. */
  readonly issues: readonly Issue[] = []
  /** Milliseconds after which the service may be asked again (`Retry-After`), where it told. */
  declare readonly retryAfter: number | undefined
  /** The run that it is about, where one has begun: `client.runs` can read it again. */
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

/** What came is not the service's. */
export function invalidResponse(message: string, more?: ServableClientErrorOptions): ServableClientError {
  return new ServableClientError('invalid_response', message, more)
}

/** The same failure, told of a run; `stream_broken` where it took a stream's connection. */
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

/** Whether trying again may help: no answer, too much for now, a state or a service that could not be reached. */
export function mayPass({ code, status, cause }: ServableClientError): boolean {
  // With a code of its own, a 502 or 504 is the answer of a run: its provider failed, or its time was up. And Chromium takes an
  // answer that was cut in its head for a whole one, with fewer fields and no body. A page has a cause.
  const isLost = code === 'invalid_response' && !cause && /^(2..|50[2-4])$/.test(`${status}`)
  return isLost || code === 'network_error' || status === 429 || status === 503
}
