import { describe, expect, it } from 'vitest'
import { type ErrorCode, type Problem, ServableError } from '../../src/index.ts'
import { problemResponse } from '../../src/web/problem.ts'

const STATUS: Record<ErrorCode, number> = {
  invalid_path: 400,
  invalid_body: 400,
  invalid_input: 400,
  invalid_header: 400,
  invalid_query: 400,
  runs_not_stored: 400,
  parse_error: 400,
  invalid_request: 400,
  invalid_params: 400,
  task_not_cancelable: 400,
  push_not_supported: 400,
  unsupported_operation: 400,
  content_type_not_supported: 400,
  extended_card_not_configured: 400,
  extension_required: 400,
  version_not_supported: 400,
  unauthorized: 401,
  forbidden: 403,
  insufficient_scope: 403,
  cross_site_request: 403,
  not_found: 404,
  agent_not_found: 404,
  tool_not_found: 404,
  toolkit_not_found: 404,
  tool_server_not_found: 404,
  tool_servers_not_configured: 404,
  tool_server_exists: 409,
  too_many_tool_servers: 409,
  caller_key_not_found: 404,
  caller_key_revoked: 409,
  too_many_caller_keys: 409,
  address_refused: 400,
  tool_failed: 502,
  tool_server_failed: 502,
  team_not_found: 404,
  workflow_not_found: 404,
  run_not_found: 404,
  method_not_found: 404,
  task_not_found: 404,
  method_not_allowed: 405,
  upload_too_slow: 408,
  conflicting_memory: 400,
  key_required: 400,
  request_not_found: 404,
  file_not_found: 404,
  webhook_not_found: 404,
  delivery_not_found: 404,
  too_many_webhooks: 409,
  session_not_found: 404,
  session_busy: 409,
  request_changed: 409,
  session_changed: 409,
  already_answered: 409,
  approval_expired: 409,
  not_resumable: 409,
  input_not_kept: 409,
  approval_denied: 403,
  run_ended: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  idempotency_mismatch: 422,
  input_refused: 422,
  output_refused: 422,
  guard_failed: 500,
  too_many_runs: 429,
  budget_exceeded: 429,
  too_many_followers: 429,
  state_full: 429,
  agent_paused: 503,
  state_unavailable: 503,
  rate_limited: 429,
  invalid_options: 500,
  internal_error: 500,
  agent_failed: 500,
  invalid_event: 500,
  run_too_large: 500,
  code_changed: 500,
  interrupted: 500,
  invalid_agent_response: 500,
  provider_failed: 502,
  run_timeout: 504,
  step_timeout: 504,
}
const rows = Object.entries(STATUS) as [ErrorCode, number][]

async function problem(thrown: unknown, production: boolean) {
  const response = problemResponse(thrown, { requestId: 'request-1', production })
  const body: Problem = await response.json()
  return { response, body }
}

describe('problemResponse', () => {
  it.each(rows)('answers %s with status %i', async (code, status) => {
    const { response, body } = await problem(new ServableError(code, 'what went wrong'), false)
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(body).toEqual({
      type: 'about:blank',
      title: expect.stringMatching(/^[A-Z][A-Za-z ]+$/),
      status,
      detail: 'what went wrong',
      error: 'what went wrong',
      code,
      requestId: 'request-1',
    })
  })

  it.each(rows)(
    'shows in production of %s (%i) what the client can mend, and no more',
    async (code, status) => {
      const { body } = await problem(new ServableError(code, 'what went wrong'), true)
      const shown = status < 500 || status === 503 ? 'what went wrong' : 'Internal server error'
      expect(body).toMatchObject({ detail: shown, error: shown, code, requestId: 'request-1' })
      const titles: Record<number, string> = {
        500: shown,
        502: 'Bad Gateway',
        503: 'Service Unavailable',
        504: 'Gateway Timeout',
      }
      if (status >= 500) expect(body.title).toBe(titles[status])
    },
  )

  it.each([new Error('inside'), 'inside', { toString: () => 'inside' }])(
    'answers the throw %s with 500',
    async thrown => {
      const shown = await problem(thrown, false)
      expect(shown.response.status).toBe(500)
      expect(shown.body).toMatchObject({ code: 'internal_error', detail: 'inside' })
      const masked = await problem(thrown, true)
      expect(JSON.stringify(masked.body)).not.toContain('inside')
    },
  )

  it('lists the fields that are wrong', async () => {
    const issues = [{ path: 'input', message: 'is missing' }]
    const { body } = await problem(new ServableError('invalid_body', 'x', { issues }), true)
    expect(body.issues).toEqual(issues)
  })

  it('never shows a stack', async () => {
    for (const production of [true, false]) {
      const { body } = await problem(new Error('inside', { cause: new Error('deeper') }), production)
      expect(JSON.stringify(body)).not.toMatch(/\.ts|deeper/)
    }
  })

  it('adds headers, but for the type of its own', () => {
    const error = new ServableError('rate_limited', 'x')
    const { headers } = problemResponse(error, {
      requestId: 'r',
      production: false,
      headers: {
        'retry-after': '1',
        'content-type': 'text/html',
      },
    })
    expect(headers.get('retry-after')).toBe('1')
    expect(headers.get('content-type')).toBe('application/problem+json')
  })

  it('answers an error whose code is not of this library with 500', async () => {
    for (const code of ['made_up', 'constructor'] as unknown as ErrorCode[]) {
      const { response, body } = await problem(new ServableError(code, 'inside'), true)
      expect(response.status).toBe(500)
      expect(JSON.stringify(body)).not.toContain('inside')
    }
  })
})
