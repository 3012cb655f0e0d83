import { describe, expect, it } from 'vitest'
import { localState } from '../../src/core/local-state.ts'
import {
  Agent,
  bearerAuth,
  createHandler,
  type HandlerOptions,
  type Identity,
  type LogEntry,
  MetricsExporter,
  type Middleware,
  parallel,
  ServableError,
  sequence,
  steps,
  Team,
  type Tool,
  Workflow,
} from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { eventually } from '../eventually.ts'
import { speaker } from '../support.ts'

const REQUEST_ID = 'request-7'

/** Throws from a place of its own, so that its name stands in the stack. */
function inTheAgent(message = 'inside', cause?: unknown): never {
  throw new TypeError(message, { cause })
}

const failing = (name: string) => new Agent({ name, register: false, run: () => inTheAgent() })

const clumsy: Tool = { name: 'clumsy', execute: () => inTheAgent('dropped') }

/** Calls its tool and fails with it. */
const careless = new Agent({
  name: 'careless',
  register: false,
  tools: [clumsy],
  run: (_, context) => context.callTool('clumsy', {}),
})

/** Calls its tool and can do without. */
const careful = new Agent({
  name: 'careful',
  register: false,
  tools: [clumsy],
  async *run(_, context) {
    try {
      yield* context.callTool('clumsy', {})
    } catch {
      yield 'never mind'
    }
  },
})

/** A handler, and what its log was told beside the requests. */
function serve(options: HandlerOptions) {
  const entries: LogEntry[] = []
  const handler = createHandler({
    registry: false,
    production: true,
    logger: entry => void (entry.event !== 'request' && entries.push(entry)),
    ...options,
  })
  const ask = (path: string, init: RequestInit & { headers?: Record<string, string> } = {}) =>
    handler(
      new Request(`http://127.0.0.1${path}`, {
        ...init,
        headers: { 'x-request-id': REQUEST_ID, ...init.headers },
      }),
    )
  const post = (path: string, body: unknown = { input: 'hi' }, headers: Record<string, string> = {}) =>
    ask(path, jsonRequest(body, headers))
  return { entries, ask, post }
}

/** How often the log tells where something was thrown. */
function storiesIn(entries: readonly LogEntry[], place = 'inTheAgent'): number {
  return JSON.stringify(entries).split(`at ${place}`).length - 1
}

const identified: Middleware = (_, context, next) => {
  context.identity = { id: 'ada' }
  return next()
}

describe('the log of a run that fails', () => {
  it.each(['run', 'stream'])('has the stack, the causes and the request: /%s', async route => {
    const cause = new AggregateError([new RangeError('the root')], 'both')
    const agent = new Agent({ name: 'a', register: false, run: () => inTheAgent('inside', cause) })
    const { entries, post } = serve({ agents: { a: agent } })
    const answer = await post(`/api/agents/a/${route}`)
    expect(await answer.text()).not.toMatch(/inside|failures\.test/)
    expect(entries).toEqual([
      {
        level: 'error',
        event: 'run.failed',
        kind: 'agent',
        name: 'a',
        code: 'agent_failed',
        message: 'inside',
        runId: answer.headers.get('x-run-id')?.slice(0, 8),
        requestId: REQUEST_ID,
        error: {
          name: 'TypeError',
          message: 'inside',
          stack: expect.stringMatching(/^TypeError: inside\n {4}at inTheAgent .*failures\.test\.ts:\d+/),
          cause: {
            name: 'AggregateError',
            message: 'both',
            stack: expect.any(String),
            errors: [{ name: 'RangeError', message: 'the root', stack: expect.any(String) }],
          },
        },
      },
    ])
  })

  it.each([
    ['a stored one', { background: true }, {}],
    ['one with a key', {}, { 'idempotency-key': 'k' }],
  ])('is the same for %s', async (_, body, headers) => {
    const { entries, post } = serve({ agents: { a: failing('a') } })
    await post('/api/agents/a/run', { input: 'hi', ...body }, headers)
    expect(entries).toMatchObject([{ event: 'run.failed', requestId: REQUEST_ID }])
    expect(storiesIn(entries)).toBe(1)
  })

  it.each([
    ['a tool', { agents: { a: careless } }, 'agents/a'],
    ['a member of a team', { teams: { a: team('sequence') } }, 'teams/a'],
    ['a step', { workflows: { a: new Workflow({ name: 'w', register: false, steps: steps().step('s', () => inTheAgent()) }) } }, 'workflows/a'], // biome-ignore format: a row
  ])('tells the story once, though %s failed first', async (_, options: HandlerOptions, path) => {
    const { entries, post } = serve(options)
    expect((await post(`/api/${path}/run`)).status).toBe(500)
    expect(entries).toMatchObject([{ event: 'run.failed' }])
    expect(storiesIn(entries)).toBe(1)
  })

  it('tells the story once where others have spoken since a member failed', async () => {
    const { entries, post } = serve({ teams: { a: team('parallel') } })
    await post('/api/teams/a/run')
    expect(entries.at(-1)).toMatchObject({ event: 'run.failed', message: 'inside' })
    expect(storiesIn(entries)).toBe(1)
  })

  it('tells the story once where the agent throws an error of its own around it', async () => {
    const agent = new Agent({
      name: 'a',
      register: false,
      async *run(_, context) {
        try {
          yield* context.callTool(clumsy, {})
        } catch (cause) {
          throw new Error('my tool', { cause })
        }
      },
    })
    const { entries, post } = serve({ agents: { a: agent } })
    await post('/api/agents/a/run')
    expect(entries).toMatchObject([{ event: 'run.failed', message: 'my tool', error: { cause: { message: 'dropped' } } }]) // biome-ignore format: one
    expect(storiesIn(entries)).toBe(1)
  })

  it.each([
    ['provider_failed', 502],
    ['invalid_input', 400],
  ] as const)('has the cause of %s', async (code, status) => {
    const run = () => {
      throw new ServableError(code, 'said on purpose', { cause: new Error('the root') })
    }
    const { entries, post } = serve({ agents: { a: new Agent({ name: 'a', register: false, run }) } })
    expect((await post('/api/agents/a/run')).status).toBe(status)
    expect(entries).toMatchObject([{ event: 'run.failed', code, error: { cause: { message: 'the root' } } }])
  })

  it('tells of a run that takes too long', async () => {
    const run = () => new Promise<string>(() => {})
    const agents = { a: new Agent({ name: 'a', register: false, run }) }
    const { entries, post } = serve({ agents, runs: { timeoutMs: 20 } })
    expect((await post('/api/agents/a/run')).status).toBe(504)
    expect(entries).toMatchObject([{ event: 'run.failed', code: 'run_timeout', requestId: REQUEST_ID }])
  })

  it('tells of a result that is no JSON', async () => {
    const agent = {
      run: () => Promise.resolve({ toolCalls: [{ toolCallId: '1', toolName: 't', result: 1n }] }),
    }
    const { entries, post } = serve({ agents: { a: agent as never } })
    expect((await post('/api/agents/a/run')).status).toBe(500)
    expect(entries).toMatchObject([{ code: 'invalid_event', error: { cause: { name: 'TypeError' } } }])
  })

  it('holds no credential of the request, of whatever shape and wherever it stands', async () => {
    const secrets = ['open sesame', 'cookie-monster', 'passw0rd-in-the-query', 'of-the-provider', 'custom-1']
    let url = ''
    const run = () => {
      const told = `${secrets.join('|')} at ${url}`
      const error = new AggregateError([told, new Error(told)], told, { cause: new Error(told) })
      error.name = told
      throw error
    }
    const providers = { acme: { header: 'x-acme', matches: [] } }
    const { entries, post } = serve({
      agents: { a: new Agent({ name: 'a', register: false, run }) },
      providers,
    })
    url = `/api/agents/a/run?password=${secrets[2]}`
    const headers = {
      authorization: `Custom ${secrets[0]}`,
      cookie: `a=b; session=${secrets[1]}`,
      'x-acme': `${secrets[3]}`,
      'x-service-key': `${secrets[4]}`,
    }
    for (const body of [{ input: 'hi' }, { input: 'hi', background: true }]) await post(url, body, headers)
    expect(entries.length).toBe(2)
    expect(JSON.stringify(entries)).toContain('[redacted]|[redacted]')
    for (const secret of secrets) expect(JSON.stringify(entries)).not.toContain(secret)
  })

  it('holds none as it stands in the address, nor as a cookie means it', async () => {
    const told = ['of%2fthe%2bquery', 'of a cookie']
    const run = () => {
      throw new Error(`No good: ${told.join(' and ')}`)
    }
    const { entries, post } = serve({ agents: { a: new Agent({ name: 'a', register: false, run }) } })
    const headers = { cookie: 'session=of%20a%20cookie' }
    await post(`/api/agents/a/run?token=${told[0]}`, { input: 'hi' }, headers)
    expect(entries).toMatchObject([{ message: 'No good: [redacted] and [redacted]' }])
    for (const each of told) expect(JSON.stringify(entries)).not.toContain(each)
  })
})

describe('the log of a run that goes on', () => {
  it('has a tool that failed', async () => {
    const { entries, post } = serve({ agents: { a: careful } })
    expect((await post('/api/agents/a/run')).status).toBe(200)
    expect(entries).toMatchObject([
      {
        level: 'warn',
        event: 'tool.failed',
        tool: 'clumsy',
        name: 'a',
        message: 'dropped',
        requestId: REQUEST_ID,
        error: { name: 'TypeError', stack: expect.stringContaining('inTheAgent') },
      },
    ])
    expect(storiesIn(entries)).toBe(1)
  })

  it('has a member that failed', async () => {
    const forgiving = new Team({
      name: 't',
      register: false,
      members: [failing('m')],
      async *strategy(input, context) {
        try {
          yield* context.call('m', input)
        } catch {
          yield 'never mind'
        }
      },
    })
    const { entries, post } = serve({ teams: { t: forgiving } })
    expect((await post('/api/teams/t/run')).status).toBe(200)
    expect(entries).toMatchObject([{ level: 'warn', event: 'step.failed', step: 'm', message: 'inside' }])
    expect(storiesIn(entries)).toBe(1)
  })

  it('has a tool that failed once, though its member failed of it later', async () => {
    const careless = new Agent({
      name: 'm',
      register: false,
      async *run(_, context) {
        try {
          yield* context.callTool(clumsy, {})
        } catch (error) {
          yield 'one moment'
          throw error
        }
      },
    })
    const forgiving = new Team({
      name: 't',
      register: false,
      members: [careless],
      async *strategy(input, context) {
        try {
          yield* context.call('m', input)
        } catch {
          yield 'never mind'
        }
      },
    })
    const { entries, post } = serve({ teams: { t: forgiving } })
    expect((await post('/api/teams/t/run')).status).toBe(200)
    expect(entries).toMatchObject([{ event: 'tool.failed', tool: 'clumsy', message: 'dropped' }])
    expect(storiesIn(entries)).toBe(1)
  })

  it('has what others tell of their tools, though nobody threw', async () => {
    const events = [
      { type: 'tool_call_start', toolCall: { id: '1', name: 'far' } },
      { type: 'tool_call_end', toolCallId: '1', error: 'no answer' },
    ]
    const { entries, post } = serve({ agents: { a: { stream: () => events as never } } })
    expect((await post('/api/agents/a/run')).status).toBe(200)
    expect(entries).toMatchObject([{ event: 'tool.failed', tool: 'far', message: 'no answer' }])
  })
})

describe('the log of a request that fails', () => {
  const refusing = () => inTheAgent('inside')
  const agents = { a: failing('a') }

  it.each<[string, HandlerOptions, string]>([
    ['middleware', { middleware: [refusing] }, '/api/agents/a/run'],
    ['`fallback`', { fallback: refusing }, '/nowhere'],
  ])('has what %s throws', async (_, options, path) => {
    const { entries, post } = serve({ agents, ...options })
    expect((await post(path)).status).toBe(500)
    expect(entries).toMatchObject([{ event: 'request.failed', requestId: REQUEST_ID, message: 'inside' }])
    expect(storiesIn(entries)).toBe(1)
  })

  it.each<[string, HandlerOptions, string]>([
    ['middleware', { middleware: [bearerAuth({ verify: refusing })] }, '/api/agents'],
    ['the metrics', { metricsExporter: new MetricsExporter({ authenticate: refusing }) }, '/api/metrics'],
    ['admin', { admin: { authenticate: refusing } }, '/api/admin/toolkits'],
    ['the extended card', { a2a: { extendedCard: { authenticate: refusing } } }, '/extendedAgentCard'],
  ])('has what `authenticate` of %s throws, which refuses', async (_, options, path) => {
    const { entries, ask } = serve({ agents, ...options })
    expect((await ask(path, { headers: { authorization: 'Bearer token-1' } })).status).toBe(401)
    expect(entries.filter(({ event }) => event !== 'admin.act')).toMatchObject([
      { event: 'authenticate.failed', requestId: REQUEST_ID, message: 'inside' },
    ])
    expect(storiesIn(entries)).toBe(1)
  })

  it('has a server error that middleware throws on purpose', async () => {
    const middleware: Middleware[] = [
      () => {
        throw new ServableError('internal_error', 'no database', { cause: new Error('the root') })
      },
    ]
    const { entries, ask } = serve({ agents, middleware })
    expect((await ask('/api/agents')).status).toBe(500)
    expect(entries).toMatchObject([{ event: 'request.failed', error: { cause: { message: 'the root' } } }])
  })

  it('has nothing of a refusal', async () => {
    const middleware: Middleware[] = [
      () => {
        throw new ServableError('forbidden', 'not you')
      },
    ]
    const { entries, ask } = serve({ agents, middleware })
    expect((await ask('/api/agents')).status).toBe(403)
    expect(entries).toEqual([])
  })

  it('has what keeps the service from being ready', async () => {
    const store = Object.create(memoryStore(), { write: { value: () => inTheAgent('disk full') } })
    const { entries, ask } = serve({
      state: localState({ store, retention: {}, isVolatile: true }),
    })
    expect((await ask('/api/health')).status).toBe(503)
    expect(entries).toMatchObject([{ event: 'state.failed', message: 'disk full' }])
  })
})

describe('the log of a store that fails', () => {
  it('has the run whose end it could not take', async () => {
    let isBroken = false
    const inner = memoryStore()
    const write = (work: never) => (isBroken ? inTheAgent('disk full') : inner.write(work))
    const store = Object.create(inner, { write: { value: write } })
    const agent = new Agent({
      name: 'a',
      register: false,
      run: async () => {
        isBroken = true
        return 'x'
      },
    })
    const state = localState({ store, retention: {}, isVolatile: true })
    const { entries, post } = serve({ agents: { a: agent }, state })
    await post('/api/agents/a/run', { input: 'hi' }, { prefer: 'respond-async' })
    await eventually(() =>
      expect(entries).toContainEqual(
        expect.objectContaining({ event: 'run.not_stored', message: 'disk full', requestId: REQUEST_ID }),
      ),
    )
  })
})

describe('a task that fails', () => {
  const message = { messageId: '1', role: 'user', parts: [{ kind: 'text', text: 'hi' }] }

  it('is told with its task and its request', async () => {
    const { entries, post } = serve({ agents: { a: failing('a') }, a2a: { default: 'a' } })
    const answer = await post('/', { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } })
    const { id } = (await answer.json()).result
    expect(entries).toMatchObject([
      { event: 'run.failed', requestId: REQUEST_ID, taskId: id.slice(0, 8), error: { name: 'TypeError' } },
    ])
    expect(storiesIn(entries)).toBe(1)
  })
})

describe('what stands in the log', () => {
  const admin = { authenticate: (): Identity => ({ id: 'root' }) }

  it.each([
    ['with an owner', [identified], 'ada'],
    ['without one', [], null],
  ])('leads an administrator to a run %s, and nobody else', async (_, middleware, owner) => {
    const { entries, ask, post } = serve({ agents: { a: failing('a') }, middleware, admin })
    const answer = await post('/api/agents/a/run', { input: 'hi', background: true })
    const id = answer.headers.get('x-run-id') ?? ''
    const shown = String(entries[0]?.runId)
    expect(shown).toBe(owner === null ? id.slice(0, 8) : id)

    const found = await ask(`/api/admin/runs/${shown}`)
    expect(await found.json()).toEqual({
      runs: [expect.objectContaining({ id, owner, kind: 'agent', name: 'a', status: 'failed' })],
      tasks: [],
    })
    // Whoever reads the log and is somebody else.
    const stranger = serve({ agents: { a: failing('a') } })
    expect((await stranger.ask(`/api/runs/${shown}`)).status).toBe(404)
  })

  it.each([
    ['with an owner', [identified], 'ada'],
    ['without one', [], null],
  ])('leads an administrator to a task %s', async (_, middleware, owner) => {
    const { entries, ask, post } = serve({
      agents: { a: failing('a') },
      a2a: { default: 'a' },
      middleware,
      admin,
    })
    const message = { messageId: '1', role: 'user', parts: [{ kind: 'text', text: 'hi' }] }
    const sent = await post('/', { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } })
    const { id, contextId } = (await sent.json()).result
    const found = await (await ask(`/api/admin/runs/${entries[0]?.taskId}`)).json()
    expect(found).toEqual({
      runs: [],
      tasks: [
        { id, contextId, agent: 'a', owner, status: { state: 'failed', timestamp: expect.any(String) } },
      ],
    })
  })

  it.each(['00000000', '00000000-0000-4000-8000-000000000000', 'nonsense', '0'])(
    'leads nowhere where nothing is kept: %s',
    async ref => {
      const { ask } = serve({ agents: { a: failing('a') }, admin })
      const answer = await ask(`/api/admin/runs/${ref}`)
      expect([answer.status, (await answer.json()).code]).toEqual([404, 'run_not_found'])
    },
  )
})

function team(how: 'sequence' | 'parallel'): Team {
  const strategy = how === 'sequence' ? sequence : parallel
  return new Team({ name: 't', register: false, members: [failing('m'), speaker('n', 'x')], strategy })
}
