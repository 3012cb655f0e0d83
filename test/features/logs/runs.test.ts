import { describe, expect, it, vi } from 'vitest'
import { coreOf } from '../../../src/core/handler.ts'
import { guards } from '../../../src/features/guards/plugin.ts'
import { runLog } from '../../../src/features/logs/index.ts'
import { startedEntry } from '../../../src/features/logs/started.ts'
import { webhooks } from '../../../src/features/webhooks/plugin.ts'
import {
  Agent,
  bearerAuth,
  createHandler,
  type HandlerOptions,
  type LogEntry,
  memoryState,
  type RunEvent,
} from '../../../src/index.ts'
import { jsonRequest } from '../../contracts/http/client.ts'

const NASTY = 'a\u001b[31m\nb\u202e'

async function entriesOf(events: readonly RunEvent[], options: HandlerOptions = {}): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  const agent = new Agent({
    name: 'says',
    register: false,
    async *run() {
      yield* events
    },
  })
  const handler = createHandler({
    agents: { says: agent },
    registry: false,
    logger: false,
    plugins: [runLog({ write: entry => void entries.push(entry) })],
    ...options,
  })
  const response = await handler(
    new Request(
      'http://127.0.0.1/api/agents/says/run',
      jsonRequest({ input: 'a secret' }, { 'x-request-id': 'r-1' }),
    ),
  )
  await response.text()
  expect(JSON.stringify(entries)).not.toContain('secret')
  return entries
}

const usage = { promptTokens: 3, completionTokens: 5, totalTokens: 8 }
const finish = { type: 'finish', finishReason: 'stop', usage } as const

describe('the log of runs', () => {
  it('has an entry for each run: what ran, for how long, and what it took', async () => {
    const entries = await entriesOf([
      { type: 'text', text: 'secret' },
      { type: 'tool_call_start', toolCall: { id: '1', name: 'add' } },
      { type: 'tool_call_end', toolCallId: '1', result: 'secret' },
      { type: 'model_call', model: 'acme/large' },
      { ...finish, usage: { ...usage, cost: 0.5 } },
    ])
    expect(entries).toEqual([
      {
        ...{ level: 'info', channel: 'runs', event: 'run.ended', kind: 'agent', name: 'says' },
        ...{ runId: expect.stringMatching(/^[\da-f]{8}$/), status: 'completed', finishReason: 'stop' },
        ...{ durationMs: expect.any(Number), usage, cost: 0.5, toolCalls: 1, model: 'acme/large' },
        ...{ transport: 'http', requestId: 'r-1' },
      },
    ])
  })

  it('says how it ended, and whose it was', async () => {
    const middleware: HandlerOptions['middleware'] = [
      (_, context, next) => {
        context.identity = { id: 'ada\u200bb' }
        return next()
      },
    ]
    const [failed] = await entriesOf([{ type: 'error', code: 'run_timeout', error: 'secret' }], {
      middleware,
    })
    expect(failed).toMatchObject({ status: 'failed', code: 'run_timeout', identity: 'adab' })
    expect(failed?.runId).toHaveLength(36)
    const [cancelled] = await entriesOf([{ ...finish, finishReason: 'cancelled' }])
    expect(cancelled).toMatchObject({ status: 'cancelled' })
  })

  it('takes numbers for numbers, whatever an agent says', async () => {
    const odd = {
      promptTokens: Number.NaN,
      completionTokens: 2,
      totalTokens: 2,
      cost: Number.POSITIVE_INFINITY,
    }
    const [entry] = await entriesOf([
      { type: 'model_call', model: NASTY },
      { ...finish, usage: odd },
    ])
    expect(entry).toMatchObject({ model: 'a[31mb' })
    expect(Object.values(Object(entry?.usage)).every(Number.isFinite)).toBe(true)
    expect(entry).not.toHaveProperty('cost')
  })

  it('is on the console in production, too', async () => {
    const spy = vi.spyOn(console, 'log').mockReturnValue()
    try {
      await entriesOf([finish], { logger: undefined as never, production: true, plugins: [runLog()] })
      expect(spy.mock.calls.map(([line]) => JSON.parse(line))).toMatchObject([{ event: 'run.ended' }])
    } finally {
      spy.mockRestore()
    }
  })
})

describe('the entry of a start', () => {
  const started = (options: HandlerOptions) => {
    const core = coreOf(createHandler({ registry: false, logger: false, ...options }))
    if (core === undefined) throw new Error('no core')
    return startedEntry(core, 'http://127.0.0.1:1')
  }
  const agents = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, { run: async () => 'x' }]))

  it('says what is served where, who may call, where state is kept, and what is off', () => {
    expect(started({ agents: agents(2) as never, prefix: '/v2' })).toMatchObject({
      level: 'info',
      event: 'service.started',
      url: 'http://127.0.0.1:1/v2',
      serves: ['agents a0, a1'],
      access: 'everyone',
      state: expect.stringContaining('memory'),
      missing: [
        expect.stringContaining('authentication'),
        expect.stringContaining('lasting state'),
        expect.stringContaining('rateLimit'),
        expect.stringContaining('trustProxy'),
        expect.stringContaining('metrics'),
      ],
    })
  })

  it('names each plugin, also one without routes', () => {
    const secret = btoa('x'.repeat(32))
    const plugins = [
      webhooks({ subscriptions: [{ id: 'crm', url: 'https://example.com/hook', secret }] }),
      guards({}),
    ]
    expect(started({ state: memoryState(), plugins }).parts).toEqual([
      'roles',
      'corrections',
      'webhooks',
      'guards',
    ])
  })

  it('says less of what a deployment has thought of', () => {
    const entry = started({
      middleware: [bearerAuth({ tokens: { 'a-token': 'ada' } })],
      rateLimit: true,
      trustProxy: 1,
      a2a: true,
    })
    expect(entry.access).toBe('whoever has a credential (bearer)')
    expect(entry.parts).toContain('a2a')
    expect(entry.missing).toHaveLength(2)
    expect(JSON.stringify(entry)).not.toContain('a-token')
    expect(started({ middleware: [(_, _context, next) => next()] }).access).toContain('your middleware')
  })

  it('is bounded', () => {
    const { serves } = started({ agents: agents(500) as never })
    expect(serves).toEqual([expect.stringMatching(/^agents a0, .*, and 480 more$/)])
  })
})
