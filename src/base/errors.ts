/**
 * One base error with a stable `code`. Callers and tests match codes, never messages.
 *
 * This file knows no transport: `web/problem.ts` maps each kind of code to an HTTP status, and each other protocol has a table of
 * its own.
 *
 * @module
 */

/** The codes of failures that the caller can mend, whose text is always shown. Codes of one kind have one HTTP status. */
const CLIENT_CODES = {
  invalid: [
    'invalid_path',
    'invalid_body',
    'invalid_input',
    'invalid_header',
    'invalid_query',
    'address_refused',
    'conflicting_memory',
    'key_required',
    'runs_not_stored',
    'parse_error',
    'invalid_request',
    'invalid_params',
    'task_not_cancelable',
    'push_not_supported',
    'unsupported_operation',
    'content_type_not_supported',
    'extended_card_not_configured',
    'extension_required',
    'version_not_supported',
  ],
  unauthenticated: ['unauthorized'],
  forbidden: ['forbidden', 'insufficient_scope', 'cross_site_request', 'approval_denied'],
  missing: [
    'not_found',
    'agent_not_found',
    'team_not_found',
    'workflow_not_found',
    'run_not_found',
    'tool_not_found',
    'toolkit_not_found',
    'tool_server_not_found',
    'tool_servers_not_configured',
    'caller_key_not_found',
    'session_not_found',
    'request_not_found',
    'file_not_found',
    'webhook_not_found',
    'delivery_not_found',
    'method_not_found',
    'task_not_found',
  ],
  badMethod: ['method_not_allowed'],
  slow: ['upload_too_slow'],
  conflict: [
    'tool_server_exists',
    'too_many_tool_servers',
    'caller_key_revoked',
    'too_many_caller_keys',
    'run_ended',
    'session_busy',
    'session_changed',
    'request_changed',
    'already_answered',
    'approval_expired',
    'not_resumable',
    'input_not_kept',
    'too_many_webhooks',
  ],
  tooLarge: ['body_too_large'],
  badMediaType: ['unsupported_media_type'],
  refused: ['input_refused', 'output_refused', 'idempotency_mismatch'],
  tooMany: ['too_many_runs', 'budget_exceeded', 'too_many_followers', 'state_full', 'rate_limited'],
  unavailable: ['state_unavailable', 'agent_paused'],
} as const

/** The codes of failures that the caller cannot mend, whose text is masked in production. */
const SERVER_CODES = {
  failed: [
    'invalid_options',
    'internal_error',
    'agent_failed',
    'invalid_event',
    'run_too_large',
    'interrupted',
    'code_changed',
    'invalid_agent_response',
    'guard_failed',
  ],
  failedBehind: ['provider_failed', 'tool_failed', 'tool_server_failed'],
  timedOut: ['run_timeout', 'step_timeout'],
} as const

/** The code of a failure that the caller can mend. */
export type ClientErrorCode = (typeof CLIENT_CODES)[keyof typeof CLIENT_CODES][number]

/** The code of a failure that the caller cannot mend. */
export type ServerErrorCode = (typeof SERVER_CODES)[keyof typeof SERVER_CODES][number]

/** Every code that a failure of this library can carry. A code is never renamed or reused. */
export type ErrorCode = ClientErrorCode | ServerErrorCode

/** The kind of a failure. */
export type ErrorKind = keyof typeof CLIENT_CODES | keyof typeof SERVER_CODES

const KINDS: ReadonlyMap<string, ErrorKind> = new Map(
  Object.entries({ ...CLIENT_CODES, ...SERVER_CODES }).flatMap(([kind, codes]) =>
    codes.map(code => [code, kind as ErrorKind] as const),
  ),
)

/** Marks the errors of every loaded copy of this library. */
const BRAND = Symbol.for('servable.error')

/** One mistake in an input: its path, and how to correct it. */
export interface Issue {
  /** Path of the field, with dots: `input.0.type`. Empty when the whole value is wrong. */
  readonly path: string
  /** The expected value. */
  readonly message: string
}

/** Further facts of an error. */
export interface ServableErrorOptions extends ErrorOptions {
  /** The fields that are wrong, for validation errors. */
  readonly issues?: readonly Issue[]
  /**
   * Further members of the error's response, as JSON: of a problem document (RFC 9457, section 3.2). `retryAfter` is in seconds.
   */
  readonly details?: Readonly<Record<string, unknown>> | undefined
}

/**
 * The base of every error of this library. An agent may throw it as well: with a client code (such as `invalid_input`) its text
 * reaches the caller, even in production.
 *
 * @example
 * throw new ServableError('invalid_input', '`input` must name a city')
 */
export class ServableError extends Error {
  override readonly name = 'ServableError'
  /** The stable code of the failure. */
  readonly code: ErrorCode
  /** The fields that are wrong; empty unless the error is a validation error. */
  readonly issues: readonly Issue[]
  /** Further members of the error's response. */
  readonly details: ServableErrorOptions['details']

  constructor(code: ErrorCode, message: string, options: ServableErrorOptions = {}) {
    super(message, options)
    Object.defineProperty(this, BRAND, { value: true })
    this.code = code
    this.issues = options.issues ?? []
    this.details = options.details
  }
}

/** Whether `code` is one of this library's. */
export function isErrorCode(code: string): code is ErrorCode {
  return KINDS.has(code)
}

/** Whether the caller can mend a failure with this code, so that its text may always be shown. */
export function isClientErrorCode(code: string | undefined): boolean {
  const kind = KINDS.get(code ?? '')
  return kind !== undefined && kind in CLIENT_CODES
}

/** The kind of a code. */
export function kindOf(code: ErrorCode): ErrorKind {
  return KINDS.get(code) ?? 'failed'
}

/** The text of every server error in production. */
export const MASK = 'Internal server error'

/** The facts of a failure that a client may get. */
export interface ErrorReport {
  readonly code: ErrorCode
  /** The text to show. Masked for a server code if `production` is on. */
  readonly message: string
  readonly issues: readonly Issue[]
  readonly details?: ServableErrorOptions['details']
}

/**
 * Makes what a client may see of a thrown value. Only this function does that. Unknown errors get the code `fallback`. In
 * production the text of every server code is {@link MASK}. A stack is never part of it.
 */
export function reportError(error: unknown, production: boolean, fallback: ServerErrorCode): ErrorReport {
  const known = isServableError(error) && isErrorCode(error.code) ? error : undefined
  const code = known?.code ?? fallback
  const masked = production && !isClientErrorCode(code)
  const { issues = [], details } = known ?? {}
  return { code, message: masked ? MASK : messageOf(error), issues, ...(details && { details }) }
}

const LOGGED = Symbol.for('servable.told')

/** Marks an error whose failure has been logged by the code that met it first. */
export function asLogged<E extends ServableError>(error: E): E {
  return Object.defineProperty(error, LOGGED, { value: true })
}

/**
 * Whether to log a thrown value: everything that the caller cannot mend, and a state that cannot be reached, unless it has been
 * logged.
 */
export function shouldLog(error: unknown): boolean {
  if (!isServableError(error)) return true
  const { code } = error
  return (!isClientErrorCode(code) || code === 'state_unavailable') && !(LOGGED in error)
}

/** Whether any thrown value is an error of this library. */
export function isServableError(error: unknown): error is ServableError {
  try {
    return typeof error === 'object' && error !== null && BRAND in error
  } catch {
    return false
  }
}

/** The text of any thrown value, never empty and never a stack. */
export function messageOf(error: unknown): string {
  try {
    const message: unknown = Object(error).message
    const text = typeof message === 'string' ? message : String(error)
    return text === '' ? 'Unknown error' : text
  } catch {
    return 'Unknown error'
  }
}

/** Replaces each of `secrets` in `text`, so that a key in an error's message goes no further. */
export function redact(text: string, secrets: Iterable<string>): string {
  const known = [...new Set([...secrets].filter(secret => secret !== '').flatMap(spellings))]
  // No regular expression of all: a client may send a secret that is too long for one. The longest comes first, since one key may
  // begin with another.
  const matches = known
    .filter(secret => text.includes(secret))
    .sort((a, b) => b.length - a.length)
    .map(secret => ({ secret, at: text.indexOf(secret) }))
  let redacted = ''
  let from = 0
  for (let next = firstOf(matches); next !== undefined; next = firstOf(matches)) {
    redacted += `${text.slice(from, next.at)}[redacted]`
    from = next.at + next.secret.length
    for (const match of matches) {
      if (match.at !== -1 && match.at < from) match.at = text.indexOf(match.secret, from)
    }
  }
  return redacted + text.slice(from)
}

/** The earliest remaining position. */
function firstOf<P extends { readonly at: number }>(matches: readonly P[]): P | undefined {
  let first: P | undefined
  for (const match of matches)
    if (match.at !== -1 && match.at < (first?.at ?? Number.POSITIVE_INFINITY)) first = match
  return first
}

/** The spellings of a key: the key itself, and its form in a URL if a URL can hold it. */
export function spellings(secret: string): string[] {
  try {
    return [secret, encodeURIComponent(secret)]
  } catch {
    return [secret]
  }
}

/** Makes a catch handler that ignores these error codes and throws all others again. */
export function ignoring(...codes: readonly string[]): (error: unknown) => undefined {
  return error => {
    if (!isServableError(error) || !codes.includes(error.code)) throw error
  }
}

/** Texts that look like a provider's key. The error of a refused key may repeat it. */
const KEY = new RegExp(
  [
    // With a digit, since `Bearer authentication` is no key.
    '\\b(?:[Bb]earer|[Bb]asic)\\s+(?=[^\\s\\d]*\\d)[\\w.~+/=*-]{8,}',
    '\\b(?:sk|pk|rk|key|gsk|xai|hf|gh[a-z]|github_pat)[-_][\\w*.-]{12,}',
    '\\bAIza[\\w*.-]{12,}',
    '\\bA[KS]IA[A-Z0-9]{12,}',
  ].join('|'),
  'g',
)

/** Removes texts that look like a key from text of other code. */
export function withoutKeyText(text: string): string {
  return text.replace(KEY, '[redacted]')
}
