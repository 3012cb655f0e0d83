/** What holds of pauses on every store and runtime. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import type { Deploy } from '../runtimes/deployments.ts'
import { type Client, clientOf as onSocket, plain, stock } from './gateway/client.ts'
import { ask as mcp, told } from './mcp/client.ts'
import { accept, as, ask, own, post, type Server } from './runs/client.ts'
import { served } from './served.ts'

const OPERATOR = as('eve operator')

const pause = (server: Server, path: string, reason?: string) =>
  post(server, `/api/${path}/pause`, reason === undefined ? {} : { reason }, OPERATOR)

const resume = (server: Server, path: string) =>
  ask(server, `/api/${path}/resume`, { method: 'POST', headers: OPERATOR })

const run = (server: Server, path: string, input: string, headers: Record<string, string> = {}) =>
  post(server, `/api/${path}/run`, { input }, headers)

const REFUSED = 'The agent `works` is paused: It loops'

/** Expects that a new run is refused. */
type Refusal = (server: Server) => Promise<void>

const problem =
  (path: string, body: object, headers: Record<string, string> = {}): Refusal =>
  async server => {
    const answer = await post(server, path, body, { ...as(own('ann')), ...headers })
    expect(answer.status, answer.text).toBe(503)
    expect(answer.text).toContain(REFUSED)
    expect(answer.headers.get('retry-after')).toBe('60')
    if (path.startsWith('/v1')) expect(answer.headers.get('x-should-retry')).toBe('false')
    // The stock client of the AI SDK shows the whole answer to the user.
    if (path !== '/api/chat') expect(answer.text).toContain('agent_paused')
  }

const onClient = async (client: Client): Promise<void> => {
  expect(await client.ask('agent.run', { name: 'works', input: '1' })).toMatchObject({ code: 'agent_paused' })
}

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: '1' }] }
const messages = [{ role: 'user', content: '1' }]

const REFUSALS: Readonly<Record<string, Refusal>> = {
  'as JSON': problem('/api/agents/works/run', { input: '1' }),
  'as a stream': problem('/api/agents/works/stream', { input: '1' }),
  'as a stored run': problem('/api/agents/works/run', { input: '1', background: true }),
  'in the background': problem('/api/agents/works/run', { input: '1' }, { prefer: 'respond-async' }),
  'with a key': problem('/api/agents/works/run', { input: '1' }, { 'idempotency-key': 'first' }),
  'over AG-UI': problem('/api/agents/works/ag-ui', {
    ...{ threadId: 't', runId: 'r', tools: [], context: [] },
    messages: [{ id: 'm', role: 'user', content: '1' }],
  }),
  'over the AI SDK': problem('/api/chat', {
    id: 'chat',
    messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: '1' }] }],
  }),
  'over Chat Completions': problem('/v1/chat/completions', { model: 'works', messages }),
  'over Responses': problem('/v1/responses', { model: 'works', input: '1' }),
  'over the socket': server => onClient(onSocket(stock(server))),
  'over a plain socket': async server => onClient(await plain(server)),
  async 'over A2A'(server) {
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
    const { text } = await post(server, '/', body, { 'a2a-version': '1.0' })
    expect(JSON.parse(text).error.message).toContain(REFUSED)
    const rest = await post(server, '/message:send', { message }, { 'a2a-version': '1.0' })
    expect(rest.status, rest.text).toBe(503)
    expect(rest.text).toContain(REFUSED)
  },
  async 'over MCP'(server) {
    const { text } = await told(mcp(server, 'tools/call', { name: 'works', arguments: { input: '1' } }))
    expect(text).toContain(REFUSED)
  },
}

export function pausingContract(deploy: Deploy): void {
  describe('a pause', () => {
    const server = served(() => deploy('usual'))

    it('refuses new runs with its reason, and lets everything else go on', async () => {
      const owner = own('ann')
      const working = await accept(server, 'agents/works', { input: 'wait' }, as(owner))
      const waiting = JSON.parse((await run(server, 'workflows/asks', 'x', as(own('bob')))).text)
      expect(waiting.requests).toHaveLength(1)
      const answer = await pause(server, 'agents/works', 'It loops')
      expect(answer.status, answer.text).toBe(200)
      expect(JSON.parse(answer.text)).toMatchObject({
        ...{ kind: 'agent', name: 'works', reason: 'It loops', by: 'eve' },
        at: expect.stringMatching(/Z$/),
      })
      const refused = await run(server, 'agents/works', 'hi')
      expect(refused.status).toBe(503)
      expect(JSON.parse(refused.text)).toMatchObject({ code: 'agent_paused', detail: REFUSED })
      expect((await run(server, 'agents/other', 'hi')).status).toBe(200)
      expect((await run(server, 'teams/pair', 'hi')).text).toContain('works: hi')
      const record = JSON.parse((await ask(server, `/api/runs/${working.id}`, { headers: as(owner) })).text)
      expect(record.status).toBe('running')
      await post(server, `/api/runs/${working.id}/cancel`, {}, as(owner))
      const retried = await post(server, `/api/runs/${working.id}/retry`, {}, as(owner))
      expect([retried.status, JSON.parse(retried.text).code]).toEqual([503, 'agent_paused'])
      expect((await resume(server, 'agents/works')).status).toBe(200)
      expect((await run(server, 'agents/works', 'hi')).status).toBe(200)
    })

    it('lets a run that waits be answered and go on', async () => {
      const owner = as(own('ann'))
      const { runId, requests } = JSON.parse((await run(server, 'workflows/asks', 'x', owner)).text)
      await pause(server, 'workflows/asks')
      const refused = await run(server, 'workflows/asks', 'x', owner)
      expect(JSON.parse(refused.text)).toMatchObject({ detail: 'The workflow `asks` is paused' })
      const answers = [{ id: requests[0].id, value: { size: 'L' } }]
      const answer = await post(server, `/api/runs/${runId}/answers`, { answers }, owner)
      expect(answer.status, answer.text).toBe(200)
      expect(answer.text).toContain('size L')
      await resume(server, 'workflows/asks')
    })

    it('leaves what is queued in the queue until it is resumed', async () => {
      const owner = as(own('ann'))
      const first = await accept(server, 'agents/works', { input: 'wait' }, owner)
      const second = await accept(server, 'agents/works', { input: 'later' }, owner)
      const third = await accept(server, 'agents/other', { input: 'of another' }, owner)
      expect([second.status, third.status]).toEqual(['queued', 'queued'])
      await pause(server, 'agents/works')
      const refused = await run(server, 'agents/works', 'new', { ...owner, prefer: 'respond-async' })
      expect([refused.status, JSON.parse(refused.text).code]).toEqual([503, 'agent_paused'])
      await post(server, `/api/runs/${first.id}/cancel`, {}, owner)
      const statusOf = async (id: string) =>
        JSON.parse((await ask(server, `/api/runs/${id}`, { headers: owner })).text).status
      await eventually(async () => expect(await statusOf(third.id)).toBe('completed'))
      expect(await statusOf(second.id)).toBe('queued')
      await resume(server, 'agents/works')
      await eventually(async () => expect(await statusOf(second.id)).toBe('completed'))
    })

    it('is in lists', async () => {
      const before = JSON.parse((await ask(server, '/api/paused', { headers: OPERATOR })).text)
      expect(before).toEqual({ paused: [] })
      await pause(server, 'agents/works', 'first')
      await pause(server, 'agents/works', 'It\nloops')
      await pause(server, 'teams/pair')
      const { paused } = JSON.parse((await ask(server, '/api/paused', { headers: OPERATOR })).text)
      expect(paused).toMatchObject([
        { kind: 'agent', name: 'works', reason: 'It loops', by: 'eve' },
        { kind: 'team', name: 'pair', reason: null, by: 'eve' },
      ])
      for (const { kind, name } of paused) await resume(server, `${kind}s/${name}`)
      expect(JSON.parse((await ask(server, '/api/paused', { headers: OPERATOR })).text)).toEqual({
        paused: [],
      })
      expect((await resume(server, 'teams/pair')).status).toBe(200)
    })

    it('is for those who may', async () => {
      for (const [method, path] of [
        ['GET', 'paused'],
        ['POST', 'agents/works/pause'],
        ['POST', 'agents/works/resume'],
      ] as const) {
        for (const user of ['ann', 'eve viewer', 'eve approver', ''])
          expect((await ask(server, `/api/${path}`, { method, headers: as(user) })).status).toBe(403)
        for (const user of ['eve operator', 'eve admin'])
          expect((await ask(server, `/api/${path}`, { method, headers: as(user) })).status).toBe(200)
      }
      for (const [path, code] of [
        ['agents/nobody/pause', 'agent_not_found'],
        ['teams/nobody/resume', 'team_not_found'],
        ['workflows/works/pause', 'workflow_not_found'],
      ]) {
        const answer = await post(server, `/api/${path}`, {}, OPERATOR)
        expect([answer.status, JSON.parse(answer.text).code]).toEqual([404, code])
      }
      expect((await pause(server, 'agents/works', 'x'.repeat(501))).status).toBe(400)
    })
  })

  describe('a run of what is paused', () => {
    const server = served(async () => {
      const running = await deploy('usual')
      await pause(() => running, 'agents/works', 'It loops')
      return running
    })

    it.each(Object.entries(REFUSALS))('is refused %s', (_, refuse) => refuse(server))
  })
}
