import type { Problem } from '../web/problem.ts'
import { type ReadOptions, readText } from './body.ts'
import { ServableClientError } from './error.ts'

/** Most characters of a problem. */
const MAX_PROBLEM_LENGTH = 1024 * 1024

/** Shorter ones are words that may stand anywhere. */
const MIN_SECRET_LENGTH = 6

/** The error that an answer tells (RFC 9457); `invalid_response` where it is not the service that answers. */
export async function problemOf(
  response: Response,
  secrets: readonly string[],
  options: ReadOptions,
): Promise<ServableClientError> {
  const { status, headers } = response
  const text = await readText(response, { ...options, maxLength: MAX_PROBLEM_LENGTH })
  const problem = /problem\+json/.test(headers.get('content-type') ?? '') ? parse(text) : {}
  const { code, detail, issues } = problem
  const more = {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    runId: headers.get('x-run-id') ?? undefined,
    retryAfter: retryAfterOf(headers),
    issues: Array.isArray(issues) ? issues : [],
  }
  if (typeof code === 'string') {
    const told = redact(String(detail ?? code), secrets)
    return new ServableClientError(code, code === 'runs_not_stored' ? `${told}${HINT}` : told, more)
  }
  const what = status === 0 || (status >= 300 && status < 400) ? 'a redirect' : `the status ${status}`
  const message = `The answer is ${what}, and not the service's own: is \`baseUrl\` its address, with its prefix?`
  return new ServableClientError('invalid_response', message, more)
}

const HINT = '. Say `{ follow: false }` for a plain run, which is not kept'

function parse(text: string): Partial<Record<keyof Problem, unknown>> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

/** Milliseconds (RFC 9110, section 10.2.3): seconds or a date. */
function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after')
  if (text === null) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

/** A service may repeat a header that it was sent: the caller's never reach a message. */
function redact(text: string, secrets: readonly string[]): string {
  return secrets
    .flatMap(secret => [secret, secret.slice(secret.indexOf(' ') + 1)])
    .filter(secret => secret.length >= MIN_SECRET_LENGTH)
    .reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
}
