import type { Problem } from '../web/problem.ts'
import { discard, parseObject, readText } from './body.ts'
import { invalidResponse, ServableClientError, type ServableClientErrorOptions } from './error.ts'

/** Shorter secrets may be common words. */
const MIN_SECRET_LENGTH = 6

/** The error of an answer (RFC 9457). `invalid_response` if the answer does not come from the service. */
export async function problemOf(
  response: Response,
  secrets: readonly string[],
  signal: AbortSignal,
  maxLength: number,
): Promise<ServableClientError> {
  const { status, headers } = response
  const field = (name: string) => headers.get(name) ?? undefined
  const text = await readText(response, signal, maxLength)
  const isProblem = field('content-type')?.includes('problem+json')
  const revive = (name: string, value: unknown) =>
    typeof value === 'string' && name !== 'code' ? redact(value, secrets) : value
  const {
    code,
    detail = code,
    issues = [],
  }: Partial<Problem> = (isProblem && parseObject(text, revive)) || {}
  const more = {
    status,
    requestId: field('x-request-id'),
    runId: field('x-run-id'),
    retryAfter: retryAfterOf(field('retry-after')),
    issues,
  }
  if (typeof code !== 'string') return notOurs(`the status ${status}`, response, more)
  const hint = code === 'runs_not_stored' ? ': use `{ follow: false }`' : ''
  return new ServableClientError(code, detail + hint, more)
}

/** The error of an answer that does not come from the service. */
export function notOurs(
  what: string,
  response: Response,
  // The service never answers with a page, and another try would get the page again. The `cause` makes `mayPass` return false.
  more: ServableClientErrorOptions = {
    status: response.status,
    cause: /html/.exec(`${response.headers.get('content-type')}`)?.[0],
  },
): ServableClientError {
  discard(response)
  return invalidResponse(`The answer has ${what}: is \`baseUrl\` right?`, more)
}

/** The wait in milliseconds, from seconds or a date (RFC 9110, section 10.2.3). */
function retryAfterOf(text: string | undefined): number | undefined {
  if (!text) return undefined
  // An invalid value means no wait.
  return Math.max(0, Number(text) * 1000 || Date.parse(text) - Date.now()) || 0
}

/** Removes the caller's headers from a text. A service may repeat a header that it was sent. */
function redact(text: string, secrets: readonly string[]): string {
  return secrets
    .flatMap(secret => [secret, secret.slice(secret.indexOf(' ') + 1)])
    .filter(secret => secret.length >= MIN_SECRET_LENGTH)
    .reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
}
