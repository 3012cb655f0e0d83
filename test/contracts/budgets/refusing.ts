/** Runs that are refused, over every transport. */
import { describe, expect, it } from 'vitest'
import { type Client, clientOf as onSocket, plain, stock } from '../gateway/client.ts'
import { ask as mcp, told } from '../mcp/client.ts'
import { as, own, post } from '../runs/client.ts'
import { budgetsOf, run, type Server, spender, spent } from './client.ts'
import { LONG_MS } from './service.ts'

/** Expects that a run of somebody who has spent all is refused. */
export type Refusal = (server: Server, who: string) => Promise<void>

const problem =
  (path: string, body: object, headers: Record<string, string> = {}): Refusal =>
  async (server, who) => {
    const answer = await post(server, path, body, { ...as(who), ...headers })
    expect(answer.status, answer.text).toBe(429)
    const told = JSON.parse(answer.text) as Record<string, unknown>
    expect(told).toMatchObject({ code: 'budget_exceeded', budget: 'owner', remainingUsd: 0 })
    const resetMs = Date.parse(String(told.resetAt)) - Date.now()
    expect(resetMs).toBeLessThanOrEqual(LONG_MS)
    expect(Math.abs(Number(answer.headers.get('retry-after')) * 1000 - resetMs)).toBeLessThan(60_000)
  }

const onClient = async (client: Client): Promise<void> => {
  const ack = await client.ask('agent.run', { name: 'calls', input: '1' })
  expect(ack).toMatchObject({ code: 'budget_exceeded' })
}

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: '1' }] }

/** Over every transport. */
export const REFUSALS: Readonly<Record<string, Refusal>> = {
  'as JSON': problem('/api/agents/calls/run', { input: '1' }),
  'as a stream': problem('/api/agents/calls/stream', { input: '1' }),
  'as a stored run': problem('/api/agents/calls/run', { input: '1', background: true }),
  'in the background': problem('/api/agents/calls/run', { input: '1' }, { prefer: 'respond-async' }),
  'with a key': problem('/api/agents/calls/run', { input: '1' }, { 'idempotency-key': 'first' }),
  'over AG-UI': problem('/api/agents/calls/ag-ui', {
    threadId: 't',
    runId: 'r',
    tools: [],
    context: [],
    messages: [{ id: 'm', role: 'user', content: '1' }],
  }),
  'over the socket': (server, who) => onClient(onSocket(stock(server, { extraHeaders: as(who) }))),
  'over a plain socket': async (server, who) => onClient(await plain(server, { headers: as(who) })),
  async 'over A2A'(server, who) {
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
    const { text } = await post(server, '/', body, { ...as(who), 'a2a-version': '1.0' })
    const { error } = JSON.parse(text) as { error: { code: number; data: readonly object[] } }
    expect(error).toMatchObject({ code: -32000, data: [{ reason: 'BUDGET_EXCEEDED' }] })
    const rest = await post(server, '/message:send', { message }, { ...as(who), 'a2a-version': '1.0' })
    expect(rest.status).toBe(429)
    expect(rest.text).toContain('BUDGET_EXCEEDED')
  },
  async 'over MCP'(server, who) {
    const params = { name: 'calls', arguments: { input: '1' } }
    const { json, text } = await told(mcp(server, 'tools/call', params, { headers: as(who) }))
    expect(json.error ?? json.result, text).toMatchObject(
      json.error ? { data: { code: 'budget_exceeded' } } : { isError: true },
    )
  },
  async 'over the interface of OpenAI'(server, who) {
    const messages = [{ role: 'user', content: '1' }]
    for (const [path, body] of [
      ['chat/completions', { model: 'calls', messages }],
      ['chat/completions', { model: 'calls', messages, stream: true }],
      ['responses', { model: 'calls', input: '1' }],
    ] as const) {
      const { status, text, headers } = await post(server, `/v1/${path}`, body, as(who))
      expect(status, text).toBe(429)
      const code = 'insufficient_quota'
      expect(JSON.parse(text).error).toMatchObject({ code, type: code })
      expect(headers.get('x-should-retry')).toBe('false')
    }
  },
}

export function refusingCases(server: Server, refusals = REFUSALS): void {
  describe.each(Object.entries(refusals))('a run %s', (_, refuse) => {
    it('is refused before it starts, where all is spent', async () => {
      const who = await spender(server)
      await refuse(server, who)
      const [state] = await budgetsOf(server, who)
      expect(state).toMatchObject({ spentUsd: 0.05, heldUsd: 0, remainingUsd: 0 })
    })
  })

  it('lets others go on', async () => {
    await spender(server)
    expect((await run(server, own('other'), 1)).status).toBe(200)
  })

  it('stops a run at work before its next call, also a stored one', async () => {
    for (const more of [{}, { background: true }]) {
      const who = own('owner')
      const answer = await run(server, who, 9, more)
      expect([answer.status, JSON.parse(answer.text).code]).toEqual([429, 'budget_exceeded'])
      await spent(server, who, 5)
    }
  })

  it('tells the run of an idempotency key again, and counts it once', async () => {
    const who = own('owner')
    const headers = { 'idempotency-key': own('key') }
    const first = await run(server, who, 5, {}, headers)
    expect(first.status).toBe(200)
    await spent(server, who, 5)
    const second = await run(server, who, 5, {}, headers)
    expect([second.status, second.headers.get('x-run-id')]).toEqual([200, first.headers.get('x-run-id')])
    expect((await run(server, who, 1)).status).toBe(429)
    await spent(server, who, 5)
  })
}
