import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, it } from 'vitest'
import * as examples from '../../examples/agents.ts'
import { ToolServerManager } from '../../src/adapters/mcp-client/index.ts'
import {
  Agent,
  createHandler,
  type HandlerOptions,
  type LogEntry,
  MetricsExporter,
  type OpenApiDocument,
  Registry,
} from '../../src/index.ts'
import { secret, secretHeaders } from '../contracts/secrets.ts'

/** Breaks out of a line, a terminal and the order of what is read, where nobody minds. */
const FORGED = 'a\r\n{"level":"error"}\u001b[31m\u2028\u0085\u202e'

const entries: LogEntry[] = []
const CREDENTIALS = Object.keys(secretHeaders())

/** Whose request it is, as a host may know it anywhere. */
const asked = new AsyncLocalStorage<Request>()

/** Tells all that it knows, and all that the request said, in whatever way an error can. */
const leaker = new Agent({
  name: 'leaker',
  register: false,
  async *run(_, { apiKey, apiKeys, ...context }) {
    const request = asked.getStore()
    const sent = CREDENTIALS.map(name => request?.headers.get(name))
    const known = JSON.stringify([apiKey, apiKeys, sent, request?.url, FORGED])
    const telling = { name: 'tell', execute: () => Promise.reject(new TypeError(known)) }
    // The run goes on, so the tool's failure is told by itself.
    for await (const event of forgiving(context.callTool(telling, {}))) yield event
    const cause = Object.assign(new Error(known), { code: known })
    const error = new AggregateError([known, new Error(known)], known, { cause })
    error.name = known
    throw error
  },
})

async function* forgiving<T>(events: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* events
  } catch {
    // It can do without.
  }
}

const options: HandlerOptions = {
  serve: [...Object.values(examples), leaker],
  registry: new Registry(),
  production: true,
  runs: { listAnonymous: true },
  middleware: [(request, _, next) => asked.run(request, next)],
  logger: entry => void entries.push(entry),
  a2a: { default: 'echo' },
  gateway: true,
  fileUpload: true,
  rateLimit: { max: 10_000 },
  toolLibrary: { add: { name: 'add', parameters: { type: 'object' }, execute: () => 3 } },
  metricsExporter: new MetricsExporter(),
  admin: {
    manager: new ToolServerManager({ register: false }),
    authenticate: request => (request.headers.has('x-api-key') ? { id: 'ada' } : undefined),
  },
  swagger: { enabled: true },
}
const handler = createHandler(options)

interface Target {
  readonly method: string
  readonly path: string
}

/** Every documented operation, by the names that there are and by forged ones; what is not documented beside them. */
async function targets(): Promise<Target[]> {
  const answer = await handler(new Request('http://127.0.0.1/api/docs/spec.json'))
  const { paths }: OpenApiDocument = await answer.json()
  const documented = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map(method => ({ method: method.toUpperCase(), path })),
  )
  const others = [
    { method: 'GET', path: '/socket.io/?EIO=4&transport=polling' },
    { method: 'POST', path: '/socket.io/?EIO=4&transport=polling&sid={name}' },
    { method: 'GET', path: '/tasks/{id}' },
    { method: 'POST', path: '/message:send' },
    { method: 'GET', path: '/api/docs' },
    { method: 'GET', path: '/api/health?versions' },
    { method: 'GET', path: '/nowhere/{name}' },
    { method: 'DELETE', path: '/api/agents/{name}/run' },
    { method: 'OPTIONS', path: '/api/agents' },
    { method: 'GET', path: '/api/agents/%zz/run' },
  ]
  return [...documented, ...others].flatMap(({ method, path }) =>
    ['echo', 'summarizer', 'leaker', encodeURIComponent(FORGED)].map(name => ({
      method,
      path: path.replaceAll(/\{\w+\}/g, name),
    })),
  )
}

const BODIES = (key: string): (string | FormData)[] => {
  const form = new FormData()
  form.append('input', 'hi')
  form.append('apiKey', key)
  form.append('userId', FORGED)
  return [
    JSON.stringify({ input: 'hi', apiKey: key, sessionId: FORGED }),
    JSON.stringify({ input: 7, apiKey: key, originalValue: 'a', correctedValue: 'b' }),
    JSON.stringify({
      name: `a${crypto.randomUUID()}`,
      transport: 'http',
      url: `http://127.0.0.1/?key=${key}`,
      headers: { authorization: key },
    }),
    JSON.stringify({
      name: `a${crypto.randomUUID()}`,
      transport: 'http',
      url: `https://nowhere.invalid/?key=${key}`,
      headers: { authorization: key },
      autoConnect: false,
    }),
    JSON.stringify({ jsonrpc: '2.0', id: FORGED, method: FORGED, params: { metadata: { apiKey: key } } }),
    `{"input":"hi","apiKey":"${key}"`,
    form,
  ]
}

/** What a client is told, as far as it comes by itself: some streams have no end. */
async function tellingOf({ headers, body }: Response): Promise<string> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = JSON.stringify([...headers])
  for (let chunk = 0; reader !== undefined && chunk < 20; chunk++) {
    const next = await Promise.race([
      reader.read(),
      new Promise<undefined>(resolve => setTimeout(resolve, 20)),
    ])
    if (next === undefined || next.done) break
    text += decoder.decode(next.value, { stream: true })
  }
  await reader?.cancel()
  return text
}

async function askAll(): Promise<string[]> {
  const told: string[] = []
  for (const { method, path } of await targets()) {
    const url = `http://127.0.0.1${path}${path.includes('?') ? '&' : '?'}apiKey=${secret('query')}&q=${encodeURIComponent(FORGED)}`
    const bodies = method === 'POST' ? BODIES(secret('body')) : [undefined]
    for (const body of bodies) {
      const headers = new Headers({
        ...secretHeaders(),
        'x-request-id': secret('id with spaces '),
        traceparent: secret('trace'),
        'x-forwarded-for': secret('address'),
        ...(typeof body === 'string' && { 'content-type': 'application/json' }),
      })
      const response = await handler(new Request(url, { method, headers, ...(body && { body }) }))
      told.push(await tellingOf(response))
    }
  }
  return told
}

/** Every text of a value, with the names of its fields. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => [name, ...textsOf(each)])
}

describe('every route, sent secrets and forged lines', () => {
  it('tells and logs neither, and counts neither', async () => {
    const answers = await askAll()
    expect(answers.length).toBeGreaterThan(150)
    expect(answers.filter(text => text.includes('sk-canary'))).toEqual([])

    expect(entries.length).toBeGreaterThanOrEqual(answers.length)
    const logged = entries.flatMap(textsOf)
    expect(logged.filter(text => text.includes('sk-canary'))).toEqual([])
    const lines = logged.flatMap(text => text.split(/\n(?= {4}at )/))
    expect(lines.filter(text => /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(text))).toEqual([])
    const told = entries.filter(({ error }) => error !== undefined)
    expect(new Set(told.map(({ event }) => event))).toEqual(new Set(['run.failed', 'tool.failed']))
    expect(told.every(({ error }) => /\n {4}at .*canaries\.test/.test(Object(error).stack))).toBe(true)

    const counted = await (await handler(new Request('http://127.0.0.1/api/metrics'))).text()
    expect(counted).not.toMatch(/sk-canary|\\u001b|level/)
  })
})
