import { describe, expect, it } from 'vitest'
import type { HandlerOptions, MetricsJson } from '../../../src/index.ts'
import { Agent, createHandler, EventBus, MetricsExporter, Registry, textOf } from '../../../src/index.ts'

const usage = (prompt: number, completion: number, cost?: number) => ({
  promptTokens: prompt,
  completionTokens: completion,
  totalTokens: prompt + completion,
  ...(cost !== undefined && { cost }),
})

const bus = new EventBus()
const agents = {
  talker: new Agent({
    name: 'talker',
    register: false,
    model: { provider: 'acme.chat', id: 'model-1' },
    tools: [{ name: 'add', execute: () => 3 }],
    async *run(input, { callTool }) {
      yield 'one '
      yield* callTool('add', {})
      yield* callTool('add', {})
      if (textOf(input) === 'fail') throw new Error('the vault is open')
      return { usage: usage(1000, 500), finishReason: 'stop' as const }
    },
  }),
  dear: new Agent({ name: 'dear', register: false, run: () => ({ text: 'x', usage: usage(1, 1, 0.25) }) }),
  free: new Agent({ name: 'free', register: false, events: bus, run: () => 'free' }),
  asleep: new Agent({
    name: 'asleep',
    register: false,
    run: (_, { signal }) =>
      new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  }),
}

function make(
  options: HandlerOptions = {},
  exporter = new MetricsExporter({ pricing: { 'model-1': { prompt: 2, completion: 8 } } }),
) {
  const handler = createHandler({
    registry: false,
    agents,
    metricsExporter: exporter,
    logger: false,
    ...options,
  })
  const get = (path: string, headers: Record<string, string> = {}) =>
    handler(new Request(`http://127.0.0.1/api${path}`, { headers }))
  const run = async (name: string, input = 'x', signal?: AbortSignal) => {
    const body = JSON.stringify({ input })
    const init = {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
      signal: signal ?? null,
    }
    const response = await handler(new Request(`http://127.0.0.1/api/agents/${name}/run`, init))
    await response.text()
  }
  const json = async (): Promise<MetricsJson> => (await get('/metrics/json')).json()
  return { exporter, handler, get, run, json }
}

describe('the metrics of an agent', () => {
  it('are the eleven of the specification', async () => {
    const { run, get } = make()
    for (const input of ['x', 'y', 'fail']) await run('talker', input)
    const metrics = await (await get('/metrics/json?agent=talker')).json()
    expect(metrics).toEqual({
      runs: 3,
      errors: 1,
      cancels: 0,
      avgDurationMs: expect.any(Number),
      p95DurationMs: expect.any(Number),
      totalCost: 2 * (1000 * 2 + 500 * 8) * 1e-6,
      totalTokens: 3000,
      toolCallCount: 6,
      toolUsageFrequency: { add: 6 },
      errorRate: 1 / 3,
      tokensPerRun: 1500,
      providerMetrics: usage(1000, 500),
      activeRuns: 0,
    })
    expect(metrics.avgDurationMs).toBeGreaterThan(0)
  })

  it('take the cost of the run before that of the price, and none where nobody knows', async () => {
    const { run, json } = make()
    await run('dear')
    await run('free')
    const { byAgent, global } = await json()
    expect(byAgent.dear?.totalCost).toBe(0.25)
    expect(byAgent.free).not.toHaveProperty('totalCost')
    expect(global.totalCost).toBe(0.25)
    expect(global.runs).toBe(2)
  })

  it('count a cancel as a run, and as no error', async () => {
    const { run, json } = make()
    const leaving = new AbortController()
    const asleep = run('asleep', 'x', leaving.signal)
    while ((await json()).byAgent.asleep?.activeRuns !== 1) await Promise.resolve()
    leaving.abort()
    await asleep
    expect((await json()).byAgent.asleep).toMatchObject({
      runs: 1,
      errors: 0,
      cancels: 1,
      errorRate: 0,
      tokensPerRun: 0,
      activeRuns: 0,
    })
  })

  it('are there from the start for all that is served, and for nothing else', async () => {
    const { get, json } = make()
    expect(Object.keys((await json()).byAgent).sort()).toEqual(['asleep', 'dear', 'free', 'talker'])
    expect((await get('/metrics/json?agent=dear')).status).toBe(200)
    const unknown = await get('/metrics/json?agent=nobody')
    expect([unknown.status, (await unknown.json()).code]).toEqual([404, 'agent_not_found'])
  })

  it('do not count what was never started', async () => {
    const { run, json } = make()
    await run('nobody')
    expect((await json()).global.runs).toBe(0)
  })
})

describe('an agent that is attached', () => {
  it('is counted once where a handler serves it, and where nobody does', async () => {
    const { exporter, run, json } = make()
    const detach = exporter.attach(agents.free)
    await run('free')
    expect((await json()).byAgent.free?.runs).toBe(1)
    await agents.free.run('x')
    for await (const _ of agents.free.stream('x'));
    expect((await json()).byAgent.free?.runs).toBe(3)
    detach()
    await agents.free.run('x')
    expect((await json()).byAgent.free?.runs).toBe(3)
  })

  it('is counted under the name of the map, not twice', async () => {
    const exporter = new MetricsExporter()
    exporter.attach(agents.free)
    const { run, json } = make({ agents: { renamed: agents.free } }, exporter)
    await run('renamed')
    expect((await json()).byAgent).toMatchObject({ renamed: { runs: 1 } })
    expect((await json()).byAgent).not.toHaveProperty('free')
  })

  it('is counted by its bus with its tools, its errors and its cancels', async () => {
    const exporter = new MetricsExporter()
    exporter.attach(agents.talker)
    exporter.attach(agents.asleep)
    await agents.talker.run('x')
    await agents.talker.run('fail').catch(() => {})
    const leaving = new AbortController()
    const asleep = agents.asleep.run('x', { signal: leaving.signal }).catch(() => {})
    leaving.abort()
    await asleep
    const { byAgent } = await exporter.json()
    expect(byAgent.talker).toMatchObject({ runs: 2, errors: 1, toolCallCount: 4, totalTokens: 1500 })
    expect(byAgent.asleep).toMatchObject({ runs: 1, errors: 0, cancels: 1 })
  })

  it('must have a bus', () => {
    expect(() => new MetricsExporter().attach({})).toThrow(
      expect.objectContaining({ code: 'invalid_options' }),
    )
  })
})

describe('an exporter', () => {
  it.each<[object, string]>([
    [{ price: {} }, 'price'],
    [{ maxNames: 0 }, 'maxNames'],
    [{ authenticate: true }, 'authenticate'],
    [{ pricing: { m: { prompt: -1, completion: 0 } } }, 'pricing.m'],
    [{ pricing: { m: 3 } }, 'pricing.m'],
  ])('may not be made with %j', (options, name) => {
    expect(() => new MetricsExporter(options)).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining(name) }),
    )
  })

  it('is an error at start-up where it is something else', () => {
    expect(() => createHandler({ metricsExporter: {} as never })).toThrow(/metricsExporter/)
  })

  it('counts names beyond the bound as `other`, and tools likewise', async () => {
    const registry = new Registry()
    const exporter = new MetricsExporter({ maxNames: 2 })
    for (const name of ['a', 'b', 'c', 'd']) {
      const tools = Array.from({ length: 102 }, (_, index) => ({ name: `t${index}`, execute: () => 1 }))
      new Agent({
        name,
        register: registry,
        tools,
        async *run(_input, { callTool }) {
          for (const tool of tools) yield* callTool(tool.name, {})
        },
      })
    }
    const { run } = make({ agents: {}, registry }, exporter)
    for (const name of ['a', 'b', 'c', 'd', 'a']) await run(name)
    const { byAgent } = await exporter.json()
    expect(Object.entries(byAgent).map(([name, { runs }]) => [name, runs])).toEqual([
      ['a', 2],
      ['b', 1],
      ['other', 2],
    ])
    const { toolUsageFrequency = {} } = byAgent.a ?? {}
    expect(Object.keys(toolUsageFrequency)).toHaveLength(101)
    expect(toolUsageFrequency).toMatchObject({ t0: 2, t99: 2, other: 4 })
  })
})

describe('who may read', () => {
  const authenticate = (request: Request) => {
    const token = request.headers.get('authorization')
    if (token === 'throws') throw new Error('the vault is open')
    if (token === 'response') return new Response('scrapers only', { status: 403 })
    return token === 'Bearer scraper' ? { id: 'prometheus' } : undefined
  }
  const { get } = make({}, new MetricsExporter({ authenticate }))

  it.each(['/metrics', '/metrics/json', '/metrics/stream'])(
    'is for `authenticate` to say: %s',
    async path => {
      expect((await get(path)).status).toBe(401)
      expect((await get(path, { authorization: 'throws' })).status).toBe(401)
      const answer = await get(path, { authorization: 'response' })
      expect([answer.status, await answer.text()]).toEqual([403, 'scrapers only'])
      const allowed = await get(path, { authorization: 'Bearer scraper' })
      expect(allowed.status).toBe(200)
      await allowed.body?.cancel()
    },
  )

  it('is not known without an exporter', async () => {
    const { handler } = make()
    const bare = createHandler()
    expect((await bare(new Request('http://127.0.0.1/api/metrics'))).status).toBe(404)
    expect((await handler(new Request('http://127.0.0.1/api/metrics', { method: 'POST' }))).status).toBe(405)
  })
})
