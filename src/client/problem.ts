import type { Problem } from '../web/problem.ts'
import { discard, parseObject, readText } from './body.ts'
import { ServableClientError, type ServableClientErrorOptions } from './error.ts'

/** Most characters of a problem. */
const MAX_PROBLEM_LENGTH = 1024 * 1024

/** Shorter ones are words that may stand anywhere. */
const MIN_SECRET_LENGTH = 6

/** The error that an answer tells (RFC 9457); `invalid_response` where it is not the service that answers. */
export async function problemOf(
  response: Response,
  secrets: readonly string[],
  signal: AbortSignal,
): Promise<ServableClientError> {
  const { status, headers } = response
  const field = (name: string) => headers.get(name) ?? undefined
  const text = await readText(response, signal, MAX_PROBLEM_LENGTH)
  const isProblem = field('content-type')?.includes('problem+json')
  const { code, detail, issues = [] }: Partial<Problem> = (isProblem && parseObject(text)) || {}
  const more = {
    status,
    requestId: field('x-request-id'),
    runId: field('x-run-id'),
    retryAfter: retryAfterOf(field('retry-after')),
    issues,
  }
  if (code === undefined) return notOurs(`the status ${status}`, response, more)
  const hint =
    code === 'runs_not_stored' ? '. Say `{ follow: false }` for a plain run, which is not kept' : ''
  return new ServableClientError(code, redact(`${detail}${hint}`, secrets), more)
}

/** The error of an answer that is not what the service would say. */
export function notOurs(
  what: string,
  response: Response,
  more: ServableClientErrorOptions = { status: response.status },
): ServableClientError {
  discard(response)
  return new ServableClientError('invalid_response', `The answer has ${what}: is \`baseUrl\` right?`, more)
}

/** Milliseconds (RFC 9110, section 10.2.3): seconds or a date. */
function retryAfterOf(text: string | undefined): number | undefined {
  if (!text) return undefined
  // What is neither is no reason to wait.
  return Math.max(0, Number(text) * 1000 || Date.parse(text) - Date.now()) || 0
}

/** A service may repeat a header that it was sent: the caller's never reach a message. */
function redact(text: string, secrets: readonly string[]): string {
  return secrets
    .flatMap(secret => [secret, secret.slice(secret.indexOf(' ') + 1)])
    .filter(secret => secret.length >= MIN_SECRET_LENGTH)
    .reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
}
