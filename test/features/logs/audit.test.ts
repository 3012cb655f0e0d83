import { describe, expect, it } from 'vitest'
import * as examples from '../../../examples/agents.ts'
import { ndjson } from '../../../examples/ndjson.ts'
import { ToolServerManager } from '../../../src/adapters/mcp-client/index.ts'
import { localState } from '../../../src/core/local-state.ts'
import { approvals } from '../../../src/features/approvals/plugin.ts'
import { files } from '../../../src/features/files/plugin.ts'
import { callerKeys } from '../../../src/features/keys/plugin.ts'
import { auditLog, type LogPluginOptions } from '../../../src/features/logs/index.ts'
import { schedules } from '../../../src/features/schedules/plugin.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import { webhooks } from '../../../src/features/webhooks/plugin.ts'
import {
  bearerAuth,
  createHandler,
  type HandlerOptions,
  type LogEntry,
  MetricsExporter,
  openapi,
  type Plugin,
  pausing,
} from '../../../src/index.ts'
import { agUi } from '../../../src/protocols/ag-ui/plugin.ts'
import { aiSdkUi } from '../../../src/protocols/ai-sdk-ui/plugin.ts'
import { mcp } from '../../../src/protocols/mcp/plugin.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { asking } from '../../contracts/fixture/asking.ts'

/** Every part that has routes which change something. */
const everything = (plugins: readonly Plugin[] = []): HandlerOptions => ({
  serve: Object.values(examples),
  agents: asking,
  registry: false,
  production: true,
  logger: false,
  state: localState({ store: memoryStore(), retention: {}, isVolatile: false }),
  middleware: [bearerAuth({ tokens: { 'for-ada': 'ada' } })],
  a2a: { default: 'echo', push: { allow: ['127.0.0.1'] } },
  gateway: true,
  metricsExporter: new MetricsExporter(),
  admin: { manager: new ToolServerManager({ register: false }), authenticate: () => ({ id: 'root' }) },
  plugins: [
    ndjson(),
    sessions(),
    files(),
    approvals(),
    aiSdkUi({ agent: 'echo', resume: true }),
    agUi(),
    openai(),
    mcp({ tools: true }),
    callerKeys({ authenticate: () => ({ id: 'root' }) }),
    webhooks({ clients: true }),
    pausing({ authenticate: () => ({ id: 'root' }) }),
    schedules([], { authenticate: () => ({ id: 'root' }) }),
    ...plugins,
  ],
})

function served({ options = {}, audit = {} }: { options?: HandlerOptions; audit?: LogPluginOptions } = {}) {
  const entries: LogEntry[] = []
  const handler = createHandler({
    ...everything([auditLog({ write: entry => void entries.push(entry), ...audit })]),
    ...options,
  })
  const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    handler(
      new Request(`http://127.0.0.1${path}`, {
        method,
        headers: {
          authorization: 'Bearer for-ada',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
  return { entries, ask }
}

/** Operations of the document that change nothing, though their method is none that only reads. */
const READS = [/:subscribe$/]

/** Each operation of the document with a method that may change something, and one that hands everything out. */
const operations = Object.entries(openapi(everything()).paths).flatMap(([path, item]) =>
  Object.keys(item)
    .filter(method => /^(post|patch|put|delete)$/.test(method) || path.endsWith('/export'))
    .map(method => [method.toUpperCase(), path] as const),
)

describe('the audit log', () => {
  it('is about a document that has all parts', () => {
    expect(operations.length).toBeGreaterThan(50)
    for (const part of [
      '/mcp',
      '/v1/responses',
      '/api/admin/mcp',
      '/message:send',
      '/api/sessions',
      '/api/chat',
    ])
      expect(operations.map(([, path]) => path)).toContain(part)
  })

  // Nothing is there, so each is refused: an attempt has an entry as well.
  const { entries, ask } = served()
  it.each(operations)('has an entry for each request that changes something: %s %s', async (method, path) => {
    entries.length = 0
    const id = crypto.randomUUID()
    const at = path.replace('{name}', 'nobody').replaceAll(/\{\w+\}/g, id)
    await (await ask(method, at, /GET|DELETE/.test(method) ? undefined : {})).text()
    if (READS.some(read => read.test(path))) return expect(entries).toEqual([])
    expect(entries).toHaveLength(1)
    // What names no method of its protocol, and the example of a plugin of others.
    const isOther = method === 'POST' && /^\/(mcp|(agents|teams|workflows)\/\{name\})?$|ndjson$/.test(path)
    expect(entries[0]).toMatchObject({
      level: 'info',
      channel: 'audit',
      event: expect.stringMatching(isOther ? /^route\.called$/ : /^(?!route\.)\w+\.\w+$/),
      outcome: expect.stringMatching(/^\w+$/),
      target: at,
      requestId: expect.any(String),
    })
    // What has nothing to do is done.
    if (!/sessions\/export|users\/me|\/api\/chat\/.*stop/.test(path))
      expect(entries[0]?.outcome).not.toBe('ok')
    return expect(JSON.stringify(entries)).not.toContain('for-ada')
  })

  it('says of a run who ran what, over whatever transport', async () => {
    const { entries, ask } = served()
    const input = 'secret-of-the-input'
    const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params })
    const message = { messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: input }], kind: 'message' }
    const asked: readonly (readonly [path: string, body: object, transport: string])[] = [
      ['/api/agents/echo/run', { input }, 'http'],
      ['/api/agents/echo/stream', { input }, 'sse'],
      ['/', rpc('message/send', { message }), 'a2a'],
      ['/v1/chat/completions', { model: 'echo', messages: [{ role: 'user', content: input }] }, 'openai'],
    ]
    for (const [path, body] of asked) {
      const response = await ask('POST', path, body)
      expect(await response.text()).toContain(input)
    }
    expect(entries).toHaveLength(asked.length)
    for (const [index, [, , transport]] of asked.entries()) {
      const { transport: told, ...entry }: Partial<LogEntry> = entries[index] ?? {}
      expect(entry).toEqual({
        ...{ level: 'info', channel: 'audit', event: 'run.started', outcome: 'ok', actor: 'ada' },
        ...{ target: 'agents/echo', runId: expect.any(String), requestId: expect.any(String) },
      })
      expect([transport, undefined]).toContain(told)
    }
    expect(JSON.stringify(entries)).not.toContain(input)
  })

  it('says who decided, and what was decided', async () => {
    const { entries, ask } = served()
    const run = await ask('POST', '/api/agents/refunds/run', { input: 'A1', background: true })
    const { runId: id, requests } = await run.json()
    const [request] = requests
    const answers = [{ id: request.id, decision: 'deny', reason: 'a secret of the reason' }]
    expect((await ask('POST', `/api/runs/${id}/answers`, { answers, background: true })).ok).toBe(true)
    const told = entries.map(({ event, actor, outcome, target, decisions }) => ({
      ...{ event, actor, outcome, target },
      ...(decisions !== undefined && { decisions }),
    }))
    const by = { actor: 'ada', outcome: 'ok' }
    expect(told).toContainEqual({ ...by, event: 'approval.decided', target: `/api/runs/${id}/answers` })
    expect(told).toContainEqual({
      ...by,
      event: 'run.started',
      target: 'agents/refunds',
      decisions: ['deny'],
    })
    expect(JSON.stringify(entries)).not.toContain('secret')
  })

  it('says what JSON-RPC calls, and tells nothing of what only reads', async () => {
    const { entries, ask } = served()
    const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params })
    const id = crypto.randomUUID()
    for (const body of [
      rpc('tasks/get', { id }),
      rpc('ListTasks'),
      rpc('agent/getAuthenticatedExtendedCard'),
    ])
      await ask('POST', '/', body)
    for (const method of ['initialize', 'ping', 'tools/list']) await ask('POST', '/mcp', rpc(method))
    expect(entries).toEqual([])
    await ask('POST', '/', rpc('tasks/cancel', { id }))
    await ask('POST', '/mcp', rpc('tools/call', { name: 'nobody', arguments: {} }))
    expect(entries).toMatchObject([
      { event: 'task.cancelled', method: 'tasks/cancel', outcome: 'task_not_found', target: '/' },
      { event: 'run.started', method: 'tools/call', target: '/mcp' },
    ])
    expect(entries[1]?.outcome).not.toBe('ok')
  })

  it('has attempts of those who are refused, and hides ids that would let others in', async () => {
    const { entries, ask } = served()
    const id = crypto.randomUUID()
    await ask('POST', `/api/runs/${id}/cancel`, undefined, { authorization: 'Bearer nobody' })
    await ask('POST', '/nowhere', {})
    expect(entries).toMatchObject([
      {
        event: 'run.cancelled',
        outcome: 'refused',
        status: 401,
        actor: null,
        target: `/api/runs/${id.slice(0, 8)}/cancel`,
      },
    ])
  })

  it('names the acts of administrators, and routes of others as calls', async () => {
    const { entries, ask } = served()
    await ask('DELETE', '/api/admin/mcp/none')
    await (await ask('POST', '/api/agents/echo/ndjson', { input: 'x' })).text()
    expect(entries).toMatchObject([
      { event: 'tool_server.removed', actor: 'root', outcome: expect.stringMatching(/not_found/) },
      { event: 'run.started', outcome: 'ok' },
      { event: 'route.called', outcome: 'ok', target: '/api/agents/echo/ndjson' },
    ])
  })

  it('goes to the log of the handler if nothing else is said, and a log that throws changes nothing', async () => {
    const logged: LogEntry[] = []
    const { ask } = served({
      options: {
        plugins: [sessions(), auditLog()],
        logger: entry => void logged.push(entry),
      },
    })
    await ask('DELETE', '/api/users/me')
    expect(logged.filter(({ channel }) => channel === 'audit')).toMatchObject([
      { event: 'user.deleted', outcome: 'ok' },
    ])
    const broken = served({
      audit: {
        write() {
          throw new Error('full')
        },
      },
    })
    expect((await broken.ask('DELETE', '/api/users/me')).status).toBe(204)
  })

  it('has what roles look at and do, in a log of its own too', async () => {
    const entries: LogEntry[] = []
    const handler = createHandler({
      serve: Object.values(examples),
      registry: false,
      logger: false,
      middleware: [bearerAuth({ tokens: { ada: 'ada', eve: { id: 'eve', roles: ['viewer'] } } })],
      plugins: [auditLog({ write: entry => void entries.push(entry) })],
    })
    const get = (user: string, path: string) =>
      handler(new Request(`http://127.0.0.1/api/${path}`, { headers: { authorization: `Bearer ${user}` } }))
    await get('eve', 'runs?owner=ada')
    await get('eve', 'runs?owner=*')
    await get('ada', 'runs?owner=eve')
    await get('ada', 'runs')
    const told = entries.map(({ event, actor, owner, outcome }) => [event, actor, owner, outcome])
    expect(told).toEqual([
      ['access.used', 'eve', 'ada', 'ok'],
      ['access.used', 'eve', '*', 'ok'],
      ['access.used', 'ada', 'eve', 'not_found'],
    ])
  })

  it('is for one handler, and takes no other options', () => {
    const audit = auditLog()
    createHandler({ registry: false, plugins: [audit] })
    expect(() => createHandler({ registry: false, plugins: [audit] })).toThrow('is for one handler')
    for (const wrong of [{ file: 'x' }, { write: true }, null, 'x'])
      expect(() => auditLog(wrong as never)).toThrow(expect.objectContaining({ code: 'invalid_options' }))
  })
})
