/**
 * One base error with a stable `code`. Callers and tests match codes, never messages.
 *
 * This file knows no transport: `web/problem.ts` maps a kind of codes to an HTTP status, and the other protocol rooms
 * have one table of their own.
 *
 * @module
 */

/** What the caller can mend: its text is always shown. By what it means: codes of one kind have one status over HTTP. */
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
  unavailable: ['state_unavailable'],
} as const

/** What the caller cannot mend: in production its text is masked. */
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

/** What a failure means. */
export type ErrorKind = keyof typeof CLIENT_CODES | keyof typeof SERVER_CODES

const KINDS: ReadonlyMap<string, ErrorKind> = new Map(
  Object.entries({ ...CLIENT_CODES, ...SERVER_CODES }).flatMap(([kind, codes]) =>
    codes.map(code => [code, kind as ErrorKind] as const),
  ),
)

/** Marks the errors of every copy of this library that is loaded. */
const BRAND = Symbol.for('servable.error')

/** One thing that is wrong with an input: where, and what to do about it. */
export interface Issue {
  /** Path of the field, with dots: `input.0.type`. Empty when the whole value is wrong. */
  readonly path: string
  /** What was expected there. */
  readonly message: string
}

/** What may be told along with an error. */
export interface ServableErrorOptions extends ErrorOptions {
  /** The fields that are wrong, for validation errors. */
  readonly issues?: readonly Issue[]
  /** Further members of the error's answer, as JSON: of a problem document (RFC 9457, section 3.2). `retryAfter` is in seconds. */
  readonly details?: Readonly<Record<string, unknown>> | undefined
}

/**
 * The base of every error of this library. An agent may throw it as well: with a client code
 * (such as `invalid_input`) its text reaches the caller, in production too.
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
  /** Further members of its answer. */
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

/** Whether the failure is one that the caller can mend, so that its text may always be shown. */
export function isClientErrorCode(code: string | undefined): boolean {
  const kind = KINDS.get(code ?? '')
  return kind !== undefined && kind in CLIENT_CODES
}

/** What a code means. */
export function kindOf(code: ErrorCode): ErrorKind {
  return KINDS.get(code) ?? 'failed'
}

/** The text that stands for every server error in production. */
export const MASK = 'Internal server error'

/** What a client may learn of a failure. */
export interface ErrorReport {
  readonly code: ErrorCode
  /** The text to show; masked where the code is a server's and `production` is on. */
  readonly message: string
  readonly issues: readonly Issue[]
  readonly details?: ServableErrorOptions['details']
}

/**
 * The one place where a thrown value becomes what a client may see. Unknown throws get `fallback` as their code;
 * in production the text of every server code is {@link MASK}. A stack is never part of it.
 */
export function reportError(error: unknown, production: boolean, fallback: ServerErrorCode): ErrorReport {
  const known = isServableError(error) && isErrorCode(error.code) ? error : undefined
  const code = known?.code ?? fallback
  const masked = production && !isClientErrorCode(code)
  const { issues = [], details } = known ?? {}
  return { code, message: masked ? MASK : messageOf(error), issues, ...(details && { details }) }
}

const TOLD = Symbol.for('servable.told')

/** The error, which the log has been told of: of the failure that it stands for, by whoever met that first. */
export function asTold<E extends ServableError>(error: E): E {
  return Object.defineProperty(error, TOLD, { value: true })
}

/**
 * Whether the log is to be told of a throw: of all that the caller cannot mend, and of a state that cannot be reached, unless it
 * has been.
 */
export function isUntold(error: unknown): boolean {
  if (!isServableError(error)) return true
  const { code } = error
  return (!isClientErrorCode(code) || code === 'state_unavailable') && !(TOLD in error)
}

/** Whether a thrown value, whatever it is, is an error of this library. */
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

/** Replaces every one of `secrets` in `text`, so that a key inside a thrown message goes no further. */
export function redact(text: string, secrets: Iterable<string>): string {
  const known = [...new Set([...secrets].filter(secret => secret !== '').flatMap(spellings))]
  // Not one pattern of them all, for a client may send a secret that is too long for one. The longest comes first, since one
  // key may begin with another.
  const places = known
    .filter(secret => text.includes(secret))
    .sort((a, b) => b.length - a.length)
    .map(secret => ({ secret, at: text.indexOf(secret) }))
  let redacted = ''
  let from = 0
  for (let next = firstOf(places); next !== undefined; next = firstOf(places)) {
    redacted += `${text.slice(from, next.at)}[redacted]`
    from = next.at + next.secret.length
    for (const place of places) {
      if (place.at !== -1 && place.at < from) place.at = text.indexOf(place.secret, from)
    }
  }
  return redacted + text.slice(from)
}

/** The place that comes first, of those that are left. */
function firstOf<P extends { readonly at: number }>(places: readonly P[]): P | undefined {
  let first: P | undefined
  for (const place of places)
    if (place.at !== -1 && place.at < (first?.at ?? Number.POSITIVE_INFINITY)) first = place
  return first
}

/** A key as it is, and as it stands in a URL; one that no URL can hold has the first spelling only. */
export function spellings(secret: string): string[] {
  try {
    return [secret, encodeURIComponent(secret)]
  } catch {
    return [secret]
  }
}
