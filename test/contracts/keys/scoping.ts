/** What keys may do, over every transport. */
import { expect, it } from 'vitest'
import type { IssuedKey } from '../../../src/features/keys/plugin.ts'
import { eventually } from '../../eventually.ts'
import { connected, plain, clientOf as socketOf, start, stock } from '../gateway/client.ts'
import { jsonRequest } from '../http/client.ts'
import { ask as askMcp, told } from '../mcp/client.ts'
import { ask, bearer, change, issue, own, revoke, run, type Server, short } from './client.ts'

/** Runs something with a key, and says what came of it: `ran`, or a code. */
type Way = (server: Server, key: string, name: 'says' | 'asks') => Promise<string>

const post = async (server: Server, key: string, path: string, body: object, more: object = {}) =>
  ask(server, path, jsonRequest(body, { ...bearer(key), ...more }))

const RESPOND_ASYNC = { prefer: 'respond-async' }

const codeIn = (text: string) => /"(?:code|reason)":"([a-z_A-Z]+)"/.exec(text)?.[1] ?? text

const overHttp: Way = async (server, key, name) => {
  const answer = await run(server, key, `agents/${name}`)
  return answer.status === 200 ? 'ran' : codeIn(answer.text)
}

const asStored: Way = async (server, key, name) => {
  const answer = await post(server, key, `/api/agents/${name}/run`, { input: 'hi' }, RESPOND_ASYNC)
  return answer.status === 202 ? 'ran' : codeIn(answer.text)
}

const asStream: Way = async (server, key, name) => {
  const { status, text } = await post(server, key, `/api/agents/${name}/stream`, { input: 'hi' })
  return status === 200 ? 'ran' : codeIn(text)
}

const overA2A: Way = async (server, key, name) => {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] }
  const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
  const { text } = await post(server, key, `/agents/${name}`, body, { 'a2a-version': '1.0' })
  return text.includes('"result"') ? 'ran' : text.includes('may not run') ? 'insufficient_scope' : text
}

const overA2ARest: Way = async (server, key, name) => {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] }
  const path = `/agents/${name}/message:send`
  const { status, text } = await post(server, key, path, { message }, { 'a2a-version': '1.0' })
  return status === 200 ? 'ran' : text.includes('may not run') ? 'insufficient_scope' : text
}

const overMcp: Way = async (server, key, name) => {
  const said = await told(
    askMcp(
      server,
      'tools/call',
      { name, arguments: { input: 'hi' } },
      { headers: bearer(key), can: { elicitation: { form: {} } } },
    ),
  )
  const { result } = said.json
  if (result !== undefined && result.isError !== true) return 'ran'
  return said.text.includes('may not run') ? 'insufficient_scope' : said.text
}

const overOpenAi: Way = async (server, key, name) => {
  const body = { model: name, messages: [{ role: 'user', content: 'hi' }] }
  const { status, text } = await post(server, key, '/openai/v1/chat/completions', body)
  return status === 200 ? 'ran' : codeIn(text)
}

const overResponses: Way = async (server, key, name) => {
  const { status, text } = await post(server, key, '/openai/v1/responses', { model: name, input: 'hi' })
  return status === 200 ? 'ran' : codeIn(text)
}

const overAgUi: Way = async (server, key, name) => {
  const messages = [{ id: '1', role: 'user', content: 'hi' }]
  const body = { threadId: crypto.randomUUID(), runId: '1', messages, tools: [], context: [] }
  const { text } = await post(server, key, `/api/agents/${name}/ag-ui`, body)
  return text.includes('RUN_FINISHED') ? 'ran' : codeIn(text)
}

const overChat: Way = async (server, key, name) => {
  const messages = [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'hi' }] }]
  const body = { id: crypto.randomUUID(), messages }
  const { status, text } = await post(server, key, `/api/agents/${name}/chat`, body)
  if (text.includes('may not run')) return 'insufficient_scope'
  return status === 200 ? 'ran' : text
}

const started = (ack: object) => ('code' in ack ? String(ack.code) : 'ran')

const overSocket: Way = async (server, key, name) => {
  const client = socketOf(stock(server, { auth: { token: key } }))
  return started(await client.ask('agent.run', { name, input: 'hi' }))
}

const overPlainSocket: Way = async (server, key, name) => {
  const client = await plain(server, { connect: { token: key } })
  return started(await client.ask('agent.run', { name, input: 'hi' }))
}

const WAYS: Readonly<Record<string, Way>> = {
  'over HTTP': overHttp,
  'as a stored run': asStored,
  'as a stream': asStream,
  'over A2A with JSON-RPC': overA2A,
  'over A2A with REST': overA2ARest,
  'over MCP': overMcp,
  'over Chat Completions': overOpenAi,
  'over Responses': overResponses,
  'over AG-UI': overAgUi,
  'over a chat of the AI SDK': overChat,
  'over the socket': overSocket,
  'over a plain socket': overPlainSocket,
}

const NO_SCOPE = '403 insufficient_scope'

export function scopingCases(server: Server): void {
  it.each(Object.entries(WAYS))('lets a key run what it may run alone, %s', async (_, way) => {
    const { key } = await issue(server, { scopes: ['agent:says'] })
    expect(await way(server, key, 'says')).toBe('ran')
    expect(await way(server, key, 'asks')).toBe('insufficient_scope')
    const all = await issue(server, { scopes: ['run'] })
    expect(await way(server, all.key, 'asks')).toBe('ran')
  })

  it('tells kinds apart', async () => {
    const { key } = await issue(server, { scopes: ['team:pair', 'workflow:flow', 'agent:pair'] })
    expect(short(await run(server, key, 'teams/pair'))).toBe('200')
    expect(short(await run(server, key, 'workflows/flow'))).toBe('200')
    // Its members run with it.
    expect(short(await run(server, key, 'agents/says'))).toBe(NO_SCOPE)
  })

  it('lets a key that reads run nothing', async () => {
    const { key } = await issue(server, { scopes: ['read'] })
    expect((await ask(server, '/api/runs', { headers: bearer(key) })).status).toBe(200)
    for (const [path, body] of [
      ['/api/agents/says/run', { input: 'x' }],
      ['/', { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }],
      ['/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }],
      ['/openai/v1/responses', { model: 'says', input: 'x' }],
    ] as const) {
      const { status, headers } = await post(server, key, path, body, { 'a2a-version': '1.0' })
      expect([path, status]).toEqual([path, 403])
      expect(headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope"')
    }
    const socket = stock(server, { auth: { token: key }, reconnection: false })
    await expect(connected(socket)).rejects.toMatchObject({ data: { code: 'insufficient_scope' } })
  })

  it('lets no key delete or change things but one for all', async () => {
    const owner = own('ada')
    const some = await issue(server, { owner, scopes: ['run', 'agent:says', 'read'] })
    const everything = await issue(server, { owner, scopes: ['all'] })
    const background = await post(server, some.key, '/api/agents/says/run', { input: 'x' }, RESPOND_ASYNC)
    const { id } = JSON.parse(background.text)
    const remove = (key: string) =>
      ask(server, `/api/agents/says/sessions/s`, { method: 'DELETE', headers: bearer(key) })
    expect(short(await remove(some.key))).toBe(NO_SCOPE)
    expect(short(await remove(everything.key))).toBe('404 session_not_found')
    expect((await ask(server, `/api/runs/${id}`, { headers: bearer(everything.key) })).status).toBe(200)
  })

  it('limits answers, and what runs again, to what the key may run', async () => {
    const owner = own('ada')
    const all = await issue(server, { owner })
    const some = await issue(server, { owner, scopes: ['agent:says'] })
    const begun = JSON.parse((await run(server, all.key, 'agents/asks')).text)
    const answers = [{ id: begun.requests[0].id, value: 'large' }]
    const path = `/api/runs/${begun.runId}`
    expect(short(await post(server, some.key, `${path}/answers`, { answers }))).toBe(NO_SCOPE)
    expect(short(await post(server, some.key, `${path}/resume`, {}))).toBe(NO_SCOPE)
    const { status, text } = await post(server, all.key, `${path}/answers`, { answers })
    expect(status, text).toBe(200)
    expect(JSON.parse(text).text).toBe('it is large')
  })

  it('limits a task that goes on to what the key may run', async () => {
    const owner = own('ada')
    const all = await issue(server, { owner })
    const some = await issue(server, { owner, scopes: ['agent:says'] })
    const send = async (key: string, message: object) => {
      const params = { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', ...message } }
      const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }
      return JSON.parse((await post(server, key, '/agents/asks', body, { 'a2a-version': '1.0' })).text)
    }
    const { task } = (await send(all.key, { parts: [{ text: 'x' }] })).result
    const answer = { taskId: task.id, parts: [{ text: 'large' }] }
    expect((await send(some.key, answer)).error.message).toContain('may not run')
    expect((await send(all.key, answer)).result.task.status.state).toBe('TASK_STATE_COMPLETED')
  })

  it('lets a key change only what it may run', async () => {
    const owner = own('ada')
    const all = await issue(server, { owner })
    const some = await issue(server, { owner, scopes: ['agent:says'] })
    const begin = async (name: string) => {
      const { text } = await post(server, all.key, `/api/agents/${name}/run`, { input: 'x' }, RESPOND_ASYNC)
      return `/api/runs/${JSON.parse(text).id}`
    }
    const until = (path: string, status: string) =>
      eventually(async () =>
        expect((await ask(server, path, { headers: bearer(all.key) })).text).toContain(status),
      )
    const asks = await begin('asks')
    await until(asks, 'input_required')
    const rated = { score: 1 }
    const refused: [string, object][] = [
      [`${asks}/cancel`, {}],
      [`${asks}/feedback`, rated],
      ['/api/sessions', { kind: 'agent', name: 'asks' }],
      ['/api/agents/asks/sessions/s/fork', {}],
      ['/api/agents/asks/chat/c/stop', {}],
    ]
    for (const [path, body] of refused)
      expect([path, (await post(server, some.key, path, body)).status]).toEqual([path, 403])
    // It reads all of its owner.
    expect((await ask(server, asks, { headers: bearer(some.key) })).status).toBe(200)
    const says = await begin('says')
    await until(says, 'completed')
    expect(short(await post(server, some.key, `${says}/feedback`, rated))).toBe('200')
    expect(short(await post(server, some.key, '/api/sessions', { kind: 'agent', name: 'says' }))).toBe('201')
    expect(short(await post(server, all.key, `${asks}/cancel`, {}))).toBe('200')
  })

  it('lets a key cancel only tasks and responses of what it may run', async () => {
    const owner = own('ada')
    const all = await issue(server, { owner })
    const some = await issue(server, { owner, scopes: ['agent:says'] })
    const rpc = async (key: string, method: string, params: object) => {
      const body = { jsonrpc: '2.0', id: 1, method, params }
      return JSON.parse((await post(server, key, '/', body, { 'a2a-version': '1.0' })).text)
    }
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'x' }] }
    const sent = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
    const { text } = await post(server, all.key, '/agents/asks', sent, { 'a2a-version': '1.0' })
    const { id } = JSON.parse(text).result.task
    expect((await rpc(some.key, 'CancelTask', { id })).error.message).toContain('may not run')
    expect((await rpc(all.key, 'CancelTask', { id })).result.status.state).toBe('TASK_STATE_CANCELED')

    const asked = { model: 'asks', input: 'x', background: true, store: true }
    const begun = await post(server, all.key, '/openai/v1/responses', asked)
    const path = `/openai/v1/responses/${JSON.parse(begun.text).id}/cancel`
    expect((await post(server, some.key, path, {})).status).toBe(403)
    expect((await post(server, all.key, path, {})).status).toBe(200)
  })

  it('lets a key of one agent cancel its own run on a plain socket, which is stored nowhere', async () => {
    const { key } = await issue(server, { scopes: ['agent:stays'] })
    const client = await plain(server, { connect: { token: key } })
    const runId = await start(client, 'agent.run', { name: 'stays', input: 'hi' })
    expect(await client.ask('run.cancel', { runId })).toEqual({ runId })
  })

  it('lets an open socket cancel nothing once its key is revoked', async () => {
    const issued = await issue(server)
    const client = socketOf(
      stock(server, { transports: ['websocket'], extraHeaders: { ...bearer(issued.key) } }),
    )
    const runId = await start(client, 'agent.run', { name: 'asks', input: 'hi' })
    await revoke(server, issued)
    expect(await client.ask('run.cancel', { runId })).toMatchObject({ code: 'unauthorized' })
  })

  it('heeds for an open socket what becomes of its key', async () => {
    const issued: IssuedKey = await issue(server)
    // A poll is a request of its own, which is refused once the key is revoked.
    const options = { transports: ['websocket'], extraHeaders: { ...bearer(issued.key) } }
    const client = socketOf(stock(server, options))
    const begin = async () => started(await client.ask('agent.run', { name: 'says', input: 'hi' }))
    expect(await begin()).toBe('ran')
    await change(server, issued, { scopes: ['agent:asks'] })
    expect(await begin()).toBe('insufficient_scope')
    await change(server, issued, { scopes: ['run'] })
    expect(await begin()).toBe('ran')
    await revoke(server, issued)
    expect(await begin()).toBe('unauthorized')
  })
}
