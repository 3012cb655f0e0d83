import { afterEach, describe, expect, it, vi } from 'vitest'
import { ToolServerManager } from '../../src/adapters/mcp-client/index.ts'
import { platform } from '../../src/http/platform.ts'
import {
  Agent,
  createHandler,
  defaultRegistry,
  type LogEntry,
  Registry,
  ServableError,
} from '../../src/index.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { foreign, speaker } from '../support.ts'

const LISTS = ['agents', 'teams', 'workflows', 'registry']

const get = (path: string) => new Request(`http://h${path}`)
const post = (path: string, body: unknown = { input: 'hi' }, headers: Record<string, string> = {}) =>
  new Request(`http://h${path}`, jsonRequest(body, headers))

afterEach(() => {
  for (const { name } of defaultRegistry().all('agent')) defaultRegistry().unregister('agent', name)
})

describe('createHandler', () => {
  it('serves without any option', async () => {
    const handler = createHandler()
    for (const path of LISTS) expect((await handler(get(`/api/${path}`))).status).toBe(200)
  })

  it('serves an agent that is made later at once, and no longer once it is gone', async () => {
    const handler = createHandler()
    expect((await handler(post('/api/agents/later/run'))).status).toBe(404)
    new Agent({ name: 'later', run: () => 'here' })
    expect(await (await handler(post('/api/agents/later/run'))).json()).toMatchObject({ text: 'here' })
    expect(await (await handler(get('/api/registry'))).json()).toMatchObject({ agents: ['later'] })
    defaultRegistry().unregister('agent', 'later')
    expect((await handler(post('/api/agents/later/run'))).status).toBe(404)
  })

  it('serves a registry of its user alone', async () => {
    const registry = new Registry()
    new Agent({ name: 'everywhere', run: () => 'x' })
    new Agent({ name: 'here', register: registry, run: () => 'x' })
    const handler = createHandler({ registry })
    expect(await (await handler(get('/api/registry'))).json()).toMatchObject({ agents: ['here'] })
    expect((await handler(post('/api/agents/everywhere/run'))).status).toBe(404)
  })

  it('has no lists without a registry, and runs what is given', async () => {
    const handler = createHandler({ registry: false, agents: { echo: speaker('echo', 'x') } })
    for (const path of LISTS) expect((await handler(get(`/api/${path}`))).status).toBe(404)
    expect((await handler(post('/api/agents/echo/run'))).status).toBe(200)
  })

  it.each([
    ['/', '/agents'],
    ['', '/agents'],
    ['api/v1/', '/api/v1/agents'],
    ['//x//', '/x/agents'],
  ])('mounts under the prefix "%s"', async (prefix, path) => {
    const handler = createHandler({ prefix })
    expect((await handler(get(path))).status).toBe(200)
    expect((await handler(get(`${path}/`))).status).toBe(200)
    expect((await handler(get('/elsewhere/agents'))).status).toBe(404)
  })

  it('keeps two handlers apart', async () => {
    const [one, two] = ['one', 'two'].map(name =>
      createHandler({ registry: false, serve: [speaker(name, name)] }),
    )
    expect((await one!(post('/api/agents/one/run'))).status).toBe(200)
    expect((await two!(post('/api/agents/one/run'))).status).toBe(404)
  })

  it('runs at the same time what is asked for at the same time', async () => {
    const handler = createHandler({
      registry: false,
      agents: { echo: { run: async input => ({ text: `${input}` }) as never } },
    })
    const asked = Array.from({ length: 50 }, (_, index) =>
      handler(post('/api/agents/echo/run', { input: `${index}` })),
    )
    const results = await Promise.all((await Promise.all(asked)).map(response => response.json()))
    expect(results.map(({ text }) => text)).toEqual(asked.map((_, index) => `${index}`))
    expect(new Set(results.map(({ runId }) => runId)).size).toBe(50)
  })

  it('bounds bodies, runs and events as its options say', async () => {
    const agents = {
      slow: foreign('slow', () => new Promise(() => {})),
      many: speaker('many', 'a', 'b', 'c', 'd'),
    }
    const limits = { maxBodyBytes: 40 }
    const handler = createHandler({
      registry: false,
      agents,
      limits,
      runs: { timeoutMs: 1, maxEvents: 2 },
      logger: false,
    })
    const statuses = [
      post('/api/agents/slow/run'),
      post('/api/agents/many/run'),
      post('/api/agents/many/run', { input: 'x'.repeat(40) }),
    ]
    expect(await Promise.all(statuses.map(async request => (await handler(request)).status))).toEqual([
      504, 500, 413,
    ])
  })

  it('logs a failed run with its cause, which the client does not see in production', async () => {
    const entries: LogEntry[] = []
    const agents = { bad: foreign('bad', () => Promise.reject(new Error('inside: sk-1'))) }
    const handler = createHandler({
      registry: false,
      agents,
      production: true,
      logger: entry => void (entry.event !== 'request' && entries.push(entry)),
    })
    const response = await handler(post('/api/agents/bad/run', { input: 'hi', apiKey: 'sk-1' }))
    expect(await response.json()).toMatchObject({ detail: 'Internal server error', code: 'agent_failed' })
    expect(entries).toMatchObject([
      { event: 'run.failed', kind: 'agent', name: 'bad', message: 'inside: [redacted]' },
    ])
    expect(entries[0]?.runId).toHaveLength(8)
  })

  it('shows in production what an agent tells its caller on purpose', async () => {
    const thrown = new ServableError('invalid_input', 'name a city')
    const agents = { strict: foreign('strict', () => Promise.reject(thrown)) }
    const handler = createHandler({ registry: false, agents, production: true, logger: false })
    const response = await handler(post('/api/agents/strict/run'))
    expect([response.status, await response.json()]).toMatchObject([400, { detail: 'name a city' }])
  })

  it('never rejects, whatever the request is', async () => {
    const handler = createHandler({ registry: new Registry(), logger: false })
    for (const path of [
      '/',
      '//',
      '/%',
      '/api/agents/%E0%A4%A/run',
      '/api/agents/__proto__/run',
      '/api/agents/%00/run',
    ]) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'BREW']) {
        const response = await handler(new Request(`http://h${path}`, { method }))
        expect(response.status).toBeLessThan(500)
      }
    }
  })

  describe('where requests share no memory', () => {
    const options = {
      agents: { echo: speaker('echo', 'x') },
      registry: false,
      logger: false,
      a2a: true,
      gateway: true,
      admin: { authenticate: () => ({ id: 'root' }), manager: new ToolServerManager() },
    } as const
    const rpc = { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'x' } }
    const isolated = platform({ isIsolated: true })
    const requests: readonly [string, () => Request][] = [
      ['stored runs', () => post('/api/agents/echo/run', { input: 'x', background: true })],
      ['A2A over HTTP+JSON', () => get('/tasks/x')],
      ['the event socket', () => get('/socket.io/?EIO=4&transport=polling')],
      ['tool servers', () => get('/api/admin/mcp')],
    ]

    it.each(requests)('refuses %s and says what is needed', async (_, request) => {
      const handler = createHandler(options)
      const response = await handler(request(), isolated)
      expect(response.status).toBe(400)
      expect(await response.text()).toContain('a state that requests share: on Workers use')
      const shared = await handler(request(), platform({}))
      expect(await shared.text()).not.toContain('a state that requests share')
    })

    it('tells of an act of administration that it refuses', async () => {
      const entries: LogEntry[] = []
      const handler = createHandler({ ...options, logger: entry => entries.push(entry) })
      await handler(get('/api/admin/mcp'), isolated)
      expect(entries).toContainEqual(
        expect.objectContaining({ event: 'admin.act', outcome: 'unsupported_operation' }),
      )
    })

    it('refuses A2A over JSON-RPC and says what is needed', async () => {
      const response = await createHandler(options)(post('/', rpc), isolated)
      expect(await response.json()).toMatchObject({
        error: { code: -32004, message: expect.stringContaining('A2A needs a state that requests share') },
      })
    })

    it('calls no tool that needs approval: nobody would find what to answer', async () => {
      const execute = vi.fn()
      const pays = new Agent({
        name: 'pays',
        register: false,
        tools: [{ name: 'pay', needsApproval: true, execute }],
        async *run(_, { callTool }) {
          yield* callTool('pay', {})
        },
      })
      const handler = createHandler({ ...options, agents: { pays } })
      const response = await handler(post('/api/agents/pays/run'), isolated)
      expect([response.status, (await response.json()) as object]).toMatchObject([
        400,
        { code: 'runs_not_stored' },
      ])
      const shared = await handler(post('/api/agents/pays/run'), platform({}))
      expect(await shared.json()).toMatchObject({ finishReason: 'input_required' })
      expect(execute).not.toHaveBeenCalled()
    })

    it('serves the rest', async () => {
      const handler = createHandler(options)
      const paths = ['/.well-known/agent-card.json', '/api/admin/toolkits', '/api/health']
      for (const path of paths) expect((await handler(get(path), isolated)).status).toBe(200)
      expect((await handler(post('/api/agents/echo/run'), isolated)).status).toBe(200)
    })
  })
})
