import { RestTransportFactory } from '@a2a-js/sdk/client'
import { describe, expect, it } from 'vitest'
import type { ErrorCode, ErrorReport } from '../../../src/base/errors.ts'
import { jsonRpcError, legacyRestError, restError } from '../../../src/protocols/a2a/errors.ts'

type Row = [rpc: number, http: number, status: string, reason?: string]

const TABLE: Record<ErrorCode, Row> = {
  parse_error: [-32700, 400, 'INVALID_ARGUMENT'],
  invalid_request: [-32600, 400, 'INVALID_ARGUMENT'],
  method_not_found: [-32601, 404, 'NOT_FOUND'],
  invalid_params: [-32602, 400, 'INVALID_ARGUMENT'],
  task_not_found: [-32001, 404, 'NOT_FOUND', 'TASK_NOT_FOUND'],
  task_not_cancelable: [-32002, 400, 'FAILED_PRECONDITION', 'TASK_NOT_CANCELABLE'],
  push_not_supported: [-32003, 400, 'FAILED_PRECONDITION', 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
  unsupported_operation: [-32004, 400, 'FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION'],
  content_type_not_supported: [-32005, 400, 'INVALID_ARGUMENT', 'CONTENT_TYPE_NOT_SUPPORTED'],
  invalid_agent_response: [-32006, 500, 'INTERNAL', 'INVALID_AGENT_RESPONSE'],
  extended_card_not_configured: [-32007, 400, 'FAILED_PRECONDITION', 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'],
  extension_required: [-32008, 400, 'FAILED_PRECONDITION', 'EXTENSION_SUPPORT_REQUIRED'],
  version_not_supported: [-32009, 400, 'FAILED_PRECONDITION', 'VERSION_NOT_SUPPORTED'],
  invalid_path: [-32602, 400, 'INVALID_ARGUMENT'],
  invalid_body: [-32602, 400, 'INVALID_ARGUMENT'],
  invalid_input: [-32602, 400, 'INVALID_ARGUMENT'],
  invalid_header: [-32602, 400, 'INVALID_ARGUMENT'],
  invalid_query: [-32602, 400, 'INVALID_ARGUMENT'],
  idempotency_mismatch: [-32602, 422, 'INVALID_ARGUMENT'],
  input_refused: [-32602, 422, 'INVALID_ARGUMENT'],
  output_refused: [-32000, 422, 'FAILED_PRECONDITION'],
  guard_failed: [-32603, 500, 'INTERNAL'],
  body_too_large: [-32600, 413, 'INVALID_ARGUMENT'],
  unsupported_media_type: [-32005, 415, 'INVALID_ARGUMENT', 'CONTENT_TYPE_NOT_SUPPORTED'],
  method_not_allowed: [-32601, 405, 'UNIMPLEMENTED'],
  unauthorized: [-32000, 401, 'UNAUTHENTICATED'],
  forbidden: [-32000, 403, 'PERMISSION_DENIED'],
  insufficient_scope: [-32000, 403, 'PERMISSION_DENIED'],
  cross_site_request: [-32000, 403, 'PERMISSION_DENIED'],
  not_found: [-32601, 404, 'NOT_FOUND'],
  agent_not_found: [-32602, 404, 'NOT_FOUND'],
  tool_not_found: [-32602, 404, 'NOT_FOUND'],
  toolkit_not_found: [-32602, 404, 'NOT_FOUND'],
  tool_server_not_found: [-32602, 404, 'NOT_FOUND'],
  tool_server_exists: [-32000, 409, 'ALREADY_EXISTS'],
  too_many_tool_servers: [-32000, 429, 'RESOURCE_EXHAUSTED'],
  caller_key_not_found: [-32602, 404, 'NOT_FOUND'],
  caller_key_revoked: [-32000, 409, 'FAILED_PRECONDITION'],
  too_many_caller_keys: [-32000, 429, 'RESOURCE_EXHAUSTED'],
  tool_servers_not_configured: [-32602, 404, 'NOT_FOUND'],
  address_refused: [-32602, 400, 'INVALID_ARGUMENT'],
  tool_failed: [-32603, 500, 'INTERNAL'],
  tool_server_failed: [-32603, 500, 'INTERNAL'],
  team_not_found: [-32602, 404, 'NOT_FOUND'],
  workflow_not_found: [-32602, 404, 'NOT_FOUND'],
  run_not_found: [-32001, 404, 'NOT_FOUND', 'TASK_NOT_FOUND'],
  conflicting_memory: [-32602, 400, 'INVALID_ARGUMENT'],
  request_not_found: [-32602, 400, 'INVALID_ARGUMENT'],
  request_changed: [-32602, 400, 'INVALID_ARGUMENT'],
  session_changed: [-32602, 400, 'INVALID_ARGUMENT'],
  approval_denied: [-32000, 403, 'PERMISSION_DENIED'],
  already_answered: [-32602, 400, 'INVALID_ARGUMENT'],
  session_busy: [-32000, 429, 'RESOURCE_EXHAUSTED'],
  session_not_found: [-32602, 404, 'NOT_FOUND'],
  approval_expired: [-32004, 400, 'FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION'],
  key_required: [-32602, 400, 'INVALID_ARGUMENT'],
  not_resumable: [-32004, 400, 'FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION'],
  input_not_kept: [-32004, 400, 'FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION'],
  file_not_found: [-32602, 404, 'NOT_FOUND'],
  webhook_not_found: [-32602, 404, 'NOT_FOUND'],
  delivery_not_found: [-32602, 404, 'NOT_FOUND'],
  too_many_webhooks: [-32000, 429, 'RESOURCE_EXHAUSTED'],
  run_ended: [-32004, 400, 'FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION'],
  runs_not_stored: [-32004, 400, 'FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION'],
  upload_too_slow: [-32600, 408, 'ABORTED'],
  budget_exceeded: [-32000, 429, 'RESOURCE_EXHAUSTED', 'BUDGET_EXCEEDED'],
  too_many_runs: [-32000, 429, 'RESOURCE_EXHAUSTED'],
  too_many_followers: [-32000, 429, 'RESOURCE_EXHAUSTED'],
  state_full: [-32000, 429, 'RESOURCE_EXHAUSTED'],
  agent_paused: [-32603, 503, 'UNAVAILABLE'],
  state_unavailable: [-32603, 503, 'UNAVAILABLE'],
  rate_limited: [-32000, 429, 'RESOURCE_EXHAUSTED'],
  invalid_options: [-32603, 500, 'INTERNAL'],
  internal_error: [-32603, 500, 'INTERNAL'],
  agent_failed: [-32603, 500, 'INTERNAL'],
  invalid_event: [-32603, 500, 'INTERNAL'],
  run_too_large: [-32603, 500, 'INTERNAL'],
  code_changed: [-32603, 500, 'INTERNAL'],
  interrupted: [-32603, 500, 'INTERNAL'],
  provider_failed: [-32603, 502, 'UNAVAILABLE'],
  step_timeout: [-32603, 504, 'DEADLINE_EXCEEDED'],
  run_timeout: [-32603, 504, 'DEADLINE_EXCEEDED'],
}
const rows = Object.entries(TABLE) as [ErrorCode, Row][]

const report = (code: ErrorCode, issues: ErrorReport['issues'] = []): ErrorReport => ({
  code,
  message: 'what went wrong',
  issues,
})

/** Reasons that A2A does not define. */
const OWN = ['BUDGET_EXCEEDED']

const info = (reason: string) => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain: OWN.includes(reason) ? 'servable' : 'a2a-protocol.org',
})

describe('jsonRpcError', () => {
  it.each(rows)('tells %s', (code, [rpc, , , reason]) => {
    expect(jsonRpcError(report(code))).toEqual({
      code: rpc,
      message: 'what went wrong',
      ...(reason && { data: [info(reason)] }),
    })
  })

  it('lists the fields that are wrong', () => {
    const issues = [{ path: 'message.parts', message: 'must have at least one part' }]
    expect(jsonRpcError(report('invalid_params', issues)).data).toEqual([
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: [{ field: 'message.parts', description: 'must have at least one part' }],
      },
    ])
  })

  it('lists twenty fields at the most', () => {
    const issues = Array.from({ length: 1000 }, (_, i) => ({ path: `message.parts.${i}`, message: 'x' }))
    const [detail] = jsonRpcError(report('invalid_params', issues)).data ?? []
    expect(detail?.fieldViolations).toHaveLength(20)
  })
})

describe('restError', () => {
  it.each(rows)('tells %s', (code, [, http, status, reason]) => {
    expect(restError(report(code))).toEqual({
      status: http,
      body: {
        error: { code: http, status, message: 'what went wrong', details: reason ? [info(reason)] : [] },
      },
    })
  })

  it('is understood by the official client', async () => {
    const { status, body } = restError(report('task_not_cancelable'))
    const fetchImpl = async () => Response.json(body, { status })
    const card = { supportedInterfaces: [] } as never
    const transport = await new RestTransportFactory({ fetchImpl }).create('https://a.example', card)
    await expect(transport.cancelTask({ id: 't', tenant: '', metadata: undefined })).rejects.toMatchObject({
      name: 'TaskNotCancelableError',
    })
  })
})

describe('legacyRestError', () => {
  it.each(rows)('tells %s', (code, [rpc, http]) => {
    const { status, body } = legacyRestError(report(code))
    expect(status).toBe(http)
    expect(body).toMatchObject({ code: rpc, message: 'what went wrong' })
    if (rpc > -32008 && rpc !== -32000) expect(body.error).toMatch(/^[A-Z][A-Za-z]+Error$/)
  })
})
