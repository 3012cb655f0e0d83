/**
 * Writes errors in the forms of A2A: JSON-RPC, HTTP+JSON of 1.0, and HTTP+JSON of 0.3.
 *
 * @module
 */

import type { ErrorCode, ErrorReport } from '../../base/errors.ts'

/** Details of an error. `@type` names their type, as in an `Any` of proto-JSON (section 3.3.2). */
export interface ErrorDetail {
  readonly '@type': string
  readonly [member: string]: unknown
}

/** The error object of JSON-RPC 2.0 (section 9.5). */
export interface JsonRpcError {
  readonly code: number
  readonly message: string
  readonly data?: readonly ErrorDetail[]
}

/** An error on HTTP+JSON of 1.0 (section 11.6). */
export interface RestError {
  readonly status: number
  readonly body: {
    readonly error: {
      readonly code: number
      readonly status: string
      readonly message: string
      readonly details: readonly ErrorDetail[]
    }
  }
}

/** An error on HTTP+JSON of 0.3: the error object of JSON-RPC without its envelope. */
export interface LegacyRestError {
  readonly status: number
  readonly body: JsonRpcError & {
    /** The name of the error. Some clients identify errors by it, some by `type`. */
    readonly error?: string
    readonly type?: string
  }
}

interface Row {
  /** The JSON-RPC code (section 5.4; JSON-RPC 2.0, section 5.1). */
  readonly rpc: number
  /** The HTTP status on HTTP+JSON. */
  readonly http: number
  /** The name of that status in `google.rpc.Code`. */
  readonly status: string
  /** The reason in `ErrorInfo`. */
  readonly reason?: string
  /** The domain of the reason. Default: the domain of A2A, for the errors that A2A defines (section 11.6). */
  readonly domain?: string
}

/**
 * The code for errors that neither A2A nor JSON-RPC defines. It is in the range that JSON-RPC leaves to servers, and A2A
 * does not use it.
 */
const REFUSED = -32000

const INVALID_REQUEST: Row = { rpc: -32600, http: 400, status: 'INVALID_ARGUMENT' }
const INVALID_PARAMS: Row = { rpc: -32602, http: 400, status: 'INVALID_ARGUMENT' }
const UNKNOWN_NAME: Row = { rpc: -32602, http: 404, status: 'NOT_FOUND' }
const UNKNOWN_METHOD: Row = { rpc: -32601, http: 404, status: 'NOT_FOUND' }
const TOO_MANY: Row = { rpc: REFUSED, http: 429, status: 'RESOURCE_EXHAUSTED' }
const INTERNAL: Row = { rpc: -32603, http: 500, status: 'INTERNAL' }
const NO_TASK: Row = { rpc: -32001, http: 404, status: 'NOT_FOUND', reason: 'TASK_NOT_FOUND' }
const CONTENT_TYPE: Row = {
  rpc: -32005,
  http: 400,
  status: 'INVALID_ARGUMENT',
  reason: 'CONTENT_TYPE_NOT_SUPPORTED',
}
const UNSUPPORTED: Row = precondition(-32004, 'UNSUPPORTED_OPERATION')

function precondition(rpc: number, reason: string): Row {
  return { rpc, http: 400, status: 'FAILED_PRECONDITION', reason }
}

/** The row of each error code of this library (section 5.4 for those that A2A defines). */
const ROWS: Readonly<Record<ErrorCode, Row>> = {
  parse_error: { ...INVALID_REQUEST, rpc: -32700 },
  invalid_request: INVALID_REQUEST,
  method_not_found: UNKNOWN_METHOD,
  invalid_params: INVALID_PARAMS,
  task_not_found: NO_TASK,
  task_not_cancelable: precondition(-32002, 'TASK_NOT_CANCELABLE'),
  push_not_supported: precondition(-32003, 'PUSH_NOTIFICATION_NOT_SUPPORTED'),
  unsupported_operation: UNSUPPORTED,
  content_type_not_supported: CONTENT_TYPE,
  invalid_agent_response: { ...INTERNAL, rpc: -32006, reason: 'INVALID_AGENT_RESPONSE' },
  extended_card_not_configured: precondition(-32007, 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'),
  extension_required: precondition(-32008, 'EXTENSION_SUPPORT_REQUIRED'),
  version_not_supported: precondition(-32009, 'VERSION_NOT_SUPPORTED'),
  invalid_path: INVALID_PARAMS,
  invalid_body: INVALID_PARAMS,
  invalid_input: INVALID_PARAMS,
  invalid_header: INVALID_PARAMS,
  invalid_query: INVALID_PARAMS,
  idempotency_mismatch: { ...INVALID_PARAMS, http: 422 },
  input_refused: { ...INVALID_PARAMS, http: 422 },
  output_refused: { rpc: REFUSED, http: 422, status: 'FAILED_PRECONDITION' },
  body_too_large: { ...INVALID_REQUEST, http: 413 },
  // Here the content type of the request itself is wrong. RFC 9110 defines a status of its own for that.
  unsupported_media_type: { ...CONTENT_TYPE, http: 415 },
  method_not_allowed: { ...UNKNOWN_METHOD, http: 405, status: 'UNIMPLEMENTED' },
  unauthorized: { rpc: REFUSED, http: 401, status: 'UNAUTHENTICATED' },
  forbidden: { rpc: REFUSED, http: 403, status: 'PERMISSION_DENIED' },
  insufficient_scope: { rpc: REFUSED, http: 403, status: 'PERMISSION_DENIED' },
  cross_site_request: { rpc: REFUSED, http: 403, status: 'PERMISSION_DENIED' },
  not_found: UNKNOWN_METHOD,
  agent_not_found: UNKNOWN_NAME,
  team_not_found: UNKNOWN_NAME,
  workflow_not_found: UNKNOWN_NAME,
  run_not_found: NO_TASK,
  tool_not_found: UNKNOWN_NAME,
  toolkit_not_found: UNKNOWN_NAME,
  tool_server_not_found: UNKNOWN_NAME,
  tool_server_exists: { rpc: REFUSED, http: 409, status: 'ALREADY_EXISTS' },
  too_many_tool_servers: TOO_MANY,
  caller_key_not_found: UNKNOWN_NAME,
  caller_key_revoked: { rpc: REFUSED, http: 409, status: 'FAILED_PRECONDITION' },
  too_many_caller_keys: TOO_MANY,
  tool_servers_not_configured: UNKNOWN_NAME,
  address_refused: INVALID_PARAMS,
  tool_failed: INTERNAL,
  tool_server_failed: INTERNAL,
  run_ended: UNSUPPORTED,
  conflicting_memory: INVALID_PARAMS,
  request_not_found: INVALID_PARAMS,
  request_changed: INVALID_PARAMS,
  session_changed: INVALID_PARAMS,
  already_answered: INVALID_PARAMS,
  approval_denied: { rpc: REFUSED, http: 403, status: 'PERMISSION_DENIED' },
  approval_expired: UNSUPPORTED,
  key_required: INVALID_PARAMS,
  not_resumable: UNSUPPORTED,
  input_not_kept: UNSUPPORTED,
  session_busy: TOO_MANY,
  session_not_found: UNKNOWN_NAME,
  file_not_found: UNKNOWN_NAME,
  webhook_not_found: UNKNOWN_NAME,
  delivery_not_found: UNKNOWN_NAME,
  too_many_webhooks: TOO_MANY,
  runs_not_stored: UNSUPPORTED,
  upload_too_slow: { ...INVALID_REQUEST, http: 408, status: 'ABORTED' },
  too_many_runs: TOO_MANY,
  budget_exceeded: { ...TOO_MANY, reason: 'BUDGET_EXCEEDED', domain: 'servable' },
  too_many_followers: TOO_MANY,
  state_full: TOO_MANY,
  rate_limited: TOO_MANY,
  invalid_options: INTERNAL,
  internal_error: INTERNAL,
  agent_failed: INTERNAL,
  invalid_event: INTERNAL,
  guard_failed: INTERNAL,
  run_too_large: INTERNAL,
  interrupted: INTERNAL,
  code_changed: INTERNAL,
  agent_paused: { ...INTERNAL, http: 503, status: 'UNAVAILABLE' },
  state_unavailable: { ...INTERNAL, http: 503, status: 'UNAVAILABLE' },
  provider_failed: { ...INTERNAL, http: 502, status: 'UNAVAILABLE' },
  step_timeout: { ...INTERNAL, http: 504, status: 'DEADLINE_EXCEEDED' },
  run_timeout: { ...INTERNAL, http: 504, status: 'DEADLINE_EXCEEDED' },
}

/** The names of errors in 0.3 (specification 0.3.0, section 8). */
const LEGACY_NAMES: Readonly<Record<number, string>> = {
  [-32700]: 'JSONParseError',
  [-32600]: 'InvalidRequestError',
  [-32601]: 'MethodNotFoundError',
  [-32602]: 'InvalidParamsError',
  [-32603]: 'InternalError',
  [-32001]: 'TaskNotFoundError',
  [-32002]: 'TaskNotCancelableError',
  [-32003]: 'PushNotificationNotSupportedError',
  [-32004]: 'UnsupportedOperationError',
  [-32005]: 'ContentTypeNotSupportedError',
  [-32006]: 'InvalidAgentResponseError',
  [-32007]: 'AuthenticatedExtendedCardNotConfiguredError',
}

/** Most wrong fields that an answer lists. The limit keeps an answer from being larger than its request. */
const MAX_VIOLATIONS = 20

/** The error object of a JSON-RPC answer (section 9.5). */
export function jsonRpcError(report: ErrorReport): JsonRpcError {
  const data = detailsOf(report)
  const { rpc } = ROWS[report.code]
  return { code: rpc, message: report.message, ...(data.length > 0 && { data }) }
}

/** The status and body of an answer on HTTP+JSON of 1.0 (section 11.6). */
export function restError(report: ErrorReport): RestError {
  const { http, status } = ROWS[report.code]
  const details = detailsOf(report)
  return { status: http, body: { error: { code: http, status, message: report.message, details } } }
}

/** The status and body of an answer on HTTP+JSON of 0.3. */
export function legacyRestError(report: ErrorReport): LegacyRestError {
  const body = jsonRpcError(report)
  const error = LEGACY_NAMES[body.code]
  return {
    status: ROWS[report.code].http,
    body: { ...body, ...(error !== undefined && { error, type: error }) },
  }
}

function detailsOf({ code, issues }: ErrorReport): ErrorDetail[] {
  const { reason, domain = 'a2a-protocol.org' } = ROWS[code]
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain }
  const fieldViolations = issues
    .slice(0, MAX_VIOLATIONS)
    .map(({ path, message }) => ({ field: path, description: message }))
  const request = { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations }
  return [...(reason === undefined ? [] : [info]), ...(issues.length === 0 ? [] : [request])]
}
