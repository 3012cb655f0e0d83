/**
 * Texts of clients that become keys, at their limits: each store takes them, or the client is told what to send instead.
 *
 * @module-tag long
 */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { LocalState } from '../../src/core/local-state.ts'
import { files } from '../../src/features/files/plugin.ts'
import { queue } from '../../src/features/queue/plugin.ts'
import { sessions } from '../../src/features/sessions/plugin.ts'
import { webhooks } from '../../src/features/webhooks/plugin.ts'
import { Agent, createHandler, type Handler, type LogEntry, memoryState, textOf } from '../../src/index.ts'
import { agUi } from '../../src/protocols/ag-ui/plugin.ts'
import { aiSdkUi } from '../../src/protocols/ai-sdk-ui/plugin.ts'
import { mcp } from '../../src/protocols/mcp/plugin.ts'
import { mcpTasks } from '../../src/protocols/mcp/tasks.ts'
import { openai } from '../../src/protocols/openai/plugin.ts'
import { postgresState } from '../../src/runtimes/postgres.ts'
import { sqliteState } from '../../src/runtimes/sqlite.ts'
import { type Folder, newFolder } from '../contracts/run-host/folder.ts'
import { random } from '../contracts/store/odd.ts'
import { needing } from '../needing.ts'
import { fileOf } from '../programs.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

/** Texts of so many UTF-16 units, and whether an identity may be named so. */
const KINDS: readonly (readonly [what: string, make: (length: number) => string])[] = [
  ['a byte', length => random(length, 0x21, 0x7e)],
  ['2 bytes', length => random(length, 0xa1, 0x7ff)],
  ['3 bytes', length => random(length, 0x4e00, 0x9fff)],
  ['4 bytes', length => random(length / 2, 0x20000, 0x2a6df)],
  ['3 bytes and NUL', length => `${random(length - 1, 0x4e00, 0x9fff)}\0`],
  ['3 bytes and half a pair', length => `${random(length - 1, 0x4e00, 0x9fff)}\ud83d`],
]

/** Says how many turns it remembers. */
const echo = new Agent({
  name: 'echo',
  register: false,
  corrections: true,
  async *run(input, { memory, userId }) {
    const turns = (await memory?.session()?.turns()) ?? []
    yield `${turns.length} ${userId === undefined ? 'nobody' : 'somebody'} ${textOf(input)}`
    yield { type: 'artifact', artifactId: 'a', parts: [{ type: 'text', text: 'a' }] } as never
  },
})

interface Service {
  /** Who asks from now on. */
  identity: string | undefined
  /** Errors in the log. */
  readonly failures: string[]
  get(path: string): Promise<Answer>
  post(path: string, body: object, headers?: Record<string, string>, method?: string): Promise<Answer>
}

/** What is read of a body. */
interface Json {
  readonly text?: string
  readonly id?: string
  readonly runId?: string
  readonly task?: { readonly id: string }
  readonly sessions?: readonly { readonly id: string }[]
  readonly turns?: readonly object[]
  readonly nextCursor?: string | null
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly json: Json
}

function serviceOver(state: LocalState): Service {
  const failures: string[] = []
  const handler: Handler = createHandler({
    registry: false,
    agents: { echo },
    state,
    a2a: { push: { allow: ['127.0.0.1:9'] } },
    logger: ({ level, event, message }: LogEntry) => {
      if (level === 'error') failures.push(`${event} ${message}`)
    },
    middleware: [
      (_, context, next) => {
        if (service.identity !== undefined) context.identity = { id: service.identity }
        return next()
      },
    ],
    plugins: [
      sessions(),
      files(),
      agUi(),
      aiSdkUi(),
      openai(),
      mcp({ tools: true, tasks: mcpTasks() }),
      queue(),
      webhooks({ clients: true, allow: ['127.0.0.1:9'] }),
    ],
  })
  const ask = async (path: string, init?: RequestInit): Promise<Answer> => {
    const response = await handler(new Request(`http://127.0.0.1${path}`, init))
    const text = await response.text()
    try {
      return { status: response.status, text, json: JSON.parse(text) }
    } catch {
      return { status: response.status, text, json: {} }
    }
  }
  const service: Service = {
    identity: undefined,
    failures,
    get: path => ask(path),
    post: (path, body, headers, method = 'POST') =>
      ask(path, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
  }
  return service
}

/** A text in a path. Half a pair cannot stand there. */
const inPath = (text: string) => encodeURIComponent(text.toWellFormed())

type Case = (service: Service, make: (length: number) => string) => Promise<void>

const CASES: Readonly<Record<string, Case>> = {
  async 'sessionId and userId of a run'({ get, post }, make) {
    const body = { input: 'x', sessionId: make(500), userId: make(500) }
    for (const turn of [1, 2, 3]) {
      const { status, json, text } = await post('/api/agents/echo/run', body)
      expect([status, json.text], text).toEqual([200, `${turn} somebody x`])
    }
    const kept = await post('/api/agents/echo/run', body, { 'idempotency-key': 'k' })
    expect([kept.status, kept.json.text]).toEqual([200, '4 somebody x'])
    const found = await get(`/api/runs?sessionId=${inPath(body.sessionId)}`)
    expect(found.status).toBeLessThan(500)
  },
  async 'messageId and replaces of a run'({ post }, make) {
    const body = { input: 'x', sessionId: make(499), messageId: make(500) }
    for (const more of [{}, { replaces: body.messageId }]) {
      const { status, json, text } = await post('/api/agents/echo/run', { ...body, ...more })
      expect([status, json.text], text).toEqual([200, '1 nobody x'])
    }
  },
  async 'the id of an identity'(service, make) {
    const { get, post } = service
    service.identity = make(256).replace(/[\0\ud83d]/gu, 'x')
    const made = await post('/api/sessions', { name: 'echo' })
    expect([made.status], made.text).toEqual([201])
    const body = { input: 'x', sessionId: make(500) }
    for (const turn of [1, 2]) {
      const { status, json, text } = await post('/api/agents/echo/run', body)
      expect([status, json.text], text).toEqual([200, `${turn} somebody x`])
    }
    await post('/api/agents/echo/run', { ...body, sessionId: make(498) })
    const ids: string[] = []
    for (let cursor = ''; ids.length < 9; ) {
      const { status, json, text } = await get(`/api/sessions?limit=1${cursor}`)
      expect(status, text).toBe(200)
      ids.push(...(json.sessions ?? []).map(({ id }) => id))
      if (json.nextCursor === null) break
      cursor = `&cursor=${json.nextCursor}`
    }
    expect(new Set(ids)).toEqual(new Set([made.json.id, body.sessionId, make(498)]))
    const { status, json, text } = await get(`/api/agents/echo/sessions/${inPath(body.sessionId)}/messages`)
    if (body.sessionId.isWellFormed()) expect([status, json.turns?.length], text).toEqual([200, 2])
    const stored = await post('/api/agents/echo/run', body, { prefer: 'respond-async' })
    expect(stored.status, stored.text).toBe(202)
    expect((await get('/api/runs')).status).toBe(200)
    expect((await get('/api/sessions/export')).text.trim().split('\n').length).toBeGreaterThan(2)
    const gone = await post('/api/users/me?running=cancel', {}, {}, 'DELETE')
    expect(gone.status, gone.text).toBe(204)
    expect((await get('/api/sessions')).json.sessions).toEqual([])
  },
  async 'all texts of a correction'({ post, get }, make) {
    const text = make(500)
    const texts = { field: text, entityKey: text, runId: text, sessionId: text, userId: text, scope: text }
    const correction = { originalValue: 'a', correctedValue: 'b', ...texts, tags: [make(100)] }
    const added = await post('/api/agents/echo/corrections', correction)
    expect(added.status, added.text).toBe(201)
    expect((await get('/api/agents/echo/corrections')).status).toBeLessThan(500)
  },
  async 'the session of a feedback'(service, make) {
    const { post } = service
    service.identity = 'ada'
    const sessionId = make(500)
    const run = await post('/api/agents/echo/run', { input: 'x', sessionId })
    const about = {
      sessionId,
      kind: 'agent',
      name: 'echo',
      score: 1,
      text: make(500),
      correction: make(500),
    }
    const said = await post(`/api/runs/${run.json.runId}/feedback`, about)
    expect(said.status, said.text).toBeLessThan(300)
    expect((await post(`/api/runs/${inPath(make(500))}/feedback`, about)).status).toBe(404)
  },
  async 'ids of a message and a context of A2A'({ post, get }, make) {
    const message = {
      messageId: make(1000),
      contextId: make(1000),
      role: 'ROLE_USER',
      parts: [{ text: 'x' }],
    }
    for (const turn of [1, 2]) {
      const { status, text } = await post('/message:send', { message })
      expect(status, text).toBe(200)
      expect(text).toContain(`${turn} nobody x`)
    }
    const listed = await get(`/tasks?contextId=${inPath(message.contextId)}`)
    expect(listed.status, listed.text).toBeLessThan(500)
    for (const path of ['', '/pushNotificationConfigs', `/pushNotificationConfigs/${inPath(make(500))}`])
      expect((await get(`/tasks/${inPath(make(500))}${path}`)).status).toBe(404)
  },
  async 'the id of a push config'({ post, get }, make) {
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] }
    const { json } = await post('/message:send', { message })
    const id = json.task?.id
    const set = await post(`/tasks/${id}/pushNotificationConfigs`, {
      id: make(200),
      url: 'http://127.0.0.1:9/',
      token: make(500),
    })
    expect(set.status, set.text).toBeLessThan(500)
    expect((await get(`/tasks/${id}/pushNotificationConfigs/${inPath(make(200))}`)).status).toBeLessThan(500)
  },
  async 'ids of AG-UI'({ post }, make) {
    const id = make(500)
    const messages = [{ id, role: 'user', content: 'x' }]
    const body = { threadId: id, runId: id, state: {}, messages, tools: [], context: [], forwardedProps: {} }
    for (const turn of [1, 2]) {
      const { status, text } = await post('/api/agents/echo/ag-ui', body)
      expect(status, text).toBe(200)
      expect(text).toContain(' nobody x')
      expect(text, `${turn}`).not.toContain('RUN_ERROR')
    }
  },
  async 'ids of useChat'({ post, get }, make) {
    const id = make(500)
    const messages = [{ id, role: 'user', parts: [{ type: 'text', text: 'x' }] }]
    const { status, text } = await post('/api/agents/echo/chat', { id, messages, trigger: 'submit-message' })
    expect(status, text).toBe(200)
    expect(text).toContain('nobody x')
    expect((await get(`/api/agents/echo/chat/${inPath(id)}/stream`)).status).toBeLessThan(500)
    expect((await post(`/api/agents/echo/chat/${inPath(id)}/stop`, {})).status).toBeLessThan(500)
  },
  async "ids of OpenAI's interface"({ post, get }, make) {
    const conversation = make(500)
    const about = { user: make(500), safety_identifier: make(64), metadata: { a: make(500) } }
    for (const turn of [1, 2]) {
      const { status, text } = await post('/v1/responses', {
        model: 'echo',
        input: 'x',
        conversation,
        ...about,
      })
      expect(status, text).toBe(200)
      expect(text).toContain(`${turn} nobody x`)
    }
    const next = await post('/v1/responses', { model: 'echo', input: 'x', previous_response_id: make(500) })
    expect(next.status, next.text).toBeLessThan(500)
    expect((await get(`/v1/responses/${inPath(make(500))}`)).status).toBe(404)
  },
  async 'ids of MCP'({ post }, make) {
    const call = (method: string, params: object, id: string | number = make(500)) =>
      post('/mcp', { jsonrpc: '2.0', id, method, params }, { accept: 'application/json, text/event-stream' })
    const started = await call('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: make(500), version: make(500) },
    })
    expect(started.status, started.text).toBeLessThan(500)
    for (const turn of [1, 2]) {
      const args = { input: 'x', sessionId: make(500) }
      const { status, text } = await call('tools/call', { name: 'echo', arguments: args }, turn)
      expect(status, text).toBeLessThan(500)
      if (status === 200) expect(text).toContain(`${turn} nobody x`)
    }
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      expect((await call(method, { taskId: make(500) })).status).toBeLessThan(500)
  },
  async 'names of files'({ post, get }, make) {
    const file = { type: 'file', data: btoa('x'), mimeType: 'text/plain', filename: make(500) }
    const body = { input: [{ type: 'text', text: 'x' }, file], sessionId: make(500) }
    const run = await post('/api/agents/echo/run', body, { 'idempotency-key': 'f' })
    expect(run.status, run.text).toBe(200)
    for (const path of [`artifacts/${inPath(make(200))}`, `files/${inPath(make(200))}`])
      expect((await get(`/api/runs/${run.json.runId}/${path}`)).status).toBeLessThan(500)
  },
  async 'the fields of a webhook'(service, make) {
    const { post, get } = service
    service.identity = 'ada'
    const url = `http://127.0.0.1:9/${inPath(make(150))}`
    const made = await post('/api/webhooks', { url, agents: [make(200)], secret: make(200) })
    expect(made.status, made.text).toBeLessThan(500)
    expect((await get('/api/webhooks')).status).toBe(200)
    expect((await get(`/api/webhooks/${inPath(make(500))}`)).status).toBe(404)
  },
  async 'what stands where an id or a cursor belongs'({ get, post }, make) {
    const text = inPath(make(500))
    const paths = [
      `/api/runs/${text}`,
      `/api/runs/${text}/events`,
      `/api/runs/${text}/stream`,
      `/api/runs?cursor=${text}`,
      `/api/runs?sessionId=${text}&name=${text}`,
      `/api/sessions?cursor=${text}`,
      `/api/agents/${text}`,
      `/api/agents/echo/sessions/${text}`,
      `/api/agents/echo/sessions/${text}/messages?cursor=${text}`,
      `/api/agents/echo/corrections?cursor=${text}`,
      `/tasks?pageToken=${text}`,
    ]
    for (const path of paths) expect((await get(path)).status, path).toBeLessThan(500)
    expect((await post(`/api/runs/${text}/cancel`, {})).status).toBe(404)
    const key = make(255).replace(/[^\x21-\x7e]/g, 'k')
    const kept = await post('/api/agents/echo/run', { input: 'x' }, { 'idempotency-key': key })
    expect(kept.status, kept.text).toBe(200)
  },
}

let folder: Folder
let database: PostgresServer
beforeAll(async () => {
  folder = await newFolder()
  if (fileOf('postgresql')) database = await startPostgres()
})
afterAll(async () => {
  await folder?.remove()
  await database?.stop()
})

let schemas = 0
const STORES: readonly (readonly [name: string, open: () => LocalState])[] = [
  ['memory', () => memoryState()],
  ['SQLite', () => sqliteState({ path: join(folder.path, `${++schemas}.db`) })],
  ['PostgreSQL', () => postgresState({ url: database.url, schema: `long_${++schemas}` })],
]

describe.each(STORES)('long texts of clients: %s', (store, open) => {
  const { it } = needing(...(store === 'PostgreSQL' ? (['postgresql'] as const) : []))
  describe.each(KINDS)('of %s', (_, make) => {
    it.each(Object.entries(CASES))('%s', async (_, look) => {
      const state = open()
      const service = serviceOver(state)
      await look(service, make)
      expect(service.failures).toEqual([])
      await state.store.close()
    })
  })
})
