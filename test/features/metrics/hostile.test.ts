import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { addBatch, readStats } from '../../../src/features/metrics/batches.ts'
import { LiveFeed } from '../../../src/features/metrics/live.ts'
import { createLocalStorage } from '../../../src/features/metrics/local-storage.ts'
import { Agent, createHandler, EventBus, MetricsExporter, type RunEvent } from '../../../src/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store } from '../../../src/stores/store.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { eventually } from '../../eventually.ts'

function serve(agent: object, metricsExporter = new MetricsExporter()) {
  const handler = createHandler({
    registry: false,
    logger: false,
    agents: { odd: agent as never },
    metricsExporter,
  })
  const run = async () => {
    const init = jsonRequest({ input: 'x' })
    return (await handler(new Request('http://127.0.0.1/api/agents/odd/run', init))).status
  }
  const text = async () => (await handler(new Request('http://127.0.0.1/api/metrics'))).text()
  const json = async () => (await handler(new Request('http://127.0.0.1/api/metrics/json'))).json()
  return { handler, run, text, json }
}

const finishing = (usage: unknown, events: unknown[] = [], more: object = {}) => ({
  ...more,
  async *stream() {
    for (const event of events) yield event as RunEvent
    yield { type: 'finish', finishReason: 'stop', usage } as RunEvent
  },
})

const tokens = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }

describe('what a run says of itself', () => {
  it.each<[string, object]>([
    ['a model that is null', finishing(tokens, [], { model: null })],
    ['a model without an id', finishing(tokens, [], { model: { provider: Symbol('x') } })],
    ['a cost that is text', finishing({ ...tokens, cost: '0.01' })],
    ['a cost that is no number', finishing({ ...tokens, cost: Number.NaN })],
    ['a cost that is less than nothing', finishing({ ...tokens, cost: -5 })],
    [
      'more tokens than there are',
      finishing({ promptTokens: 1e308, completionTokens: 1e308, totalTokens: 1e308 }),
    ],
    ['fewer tokens than none', finishing({ promptTokens: -1, completionTokens: -1, totalTokens: -1 })],
    ['more than numbers', finishing({ ...tokens, raw: 'sk-canary-raw' })],
    ['what no JSON can say', finishing({ ...tokens, raw: 1n })],
  ])('does not keep it from ending, and is counted as far as it is sound: %s', async (_, agent) => {
    const { run, text, json } = serve(
      agent,
      new MetricsExporter({ pricing: { 'model-1': { prompt: 1, completion: 1 } } }),
    )
    for (let time = 0; time < 3; time++) expect(await run()).toBeOneOf([200, 500])
    const shown = await text()
    for (const line of shown.split('\n').filter(each => each.startsWith('service_'))) {
      expect(line).toMatch(/^\w+(\{.*\})? \d+(\.\d+)?(e[+-]\d+)?$/)
    }
    expect(shown + JSON.stringify(await json())).not.toContain('sk-canary')
    expect((await json()).byAgent.odd.activeRuns).toBe(0)
  })

  it('has names that can be read', async () => {
    const long = 'x'.repeat(100_000)
    const calls = [long, '\ud800', '\ud801', '\ud800'].map((name, id) => ({
      type: 'tool_call_start',
      toolCall: { id: String(id), name },
    }))
    const { run, json, text } = serve(finishing(tokens, calls))
    await run()
    expect((await json()).byAgent.odd.toolUsageFrequency).toEqual({ ['x'.repeat(200)]: 1, '\ufffd': 3 })
    expect((await text()).length).toBeLessThan(20_000)
  })
})

describe('a bus', () => {
  it('that tells nonsense adds no nonsense', async () => {
    const events = new EventBus()
    const exporter = new MetricsExporter()
    exporter.attach({ name: 'odd', events })
    const who = { kind: 'agent', name: 'odd', runId: '1' } as const
    events.emit('run.start', { ...who, input: 'x' })
    events.emit('run.start', { ...who, input: 'x' })
    events.emit('run.complete', {
      ...who,
      finishReason: 'bored' as never,
      usage: {} as never,
      durationMs: undefined as never,
    })
    events.emit('run.complete', { ...who, finishReason: 'stop', usage: tokens, durationMs: 1 })
    expect((await exporter.json()).byAgent.odd).toMatchObject({
      runs: 1,
      totalTokens: 0,
      avgDurationMs: 0,
      activeRuns: 0,
    })
    expect(await exporter.text()).toContain('outcome="other"')
  })

  it('is heard once, however often it is attached, and to the end of what is under way', async () => {
    const gate = Promise.withResolvers<void>()
    const agent = new Agent({
      name: 'slow',
      register: false,
      run: async () => {
        await gate.promise
        return 'x'
      },
    })
    const exporter = new MetricsExporter()
    const detach = exporter.attach(agent)
    expect(exporter.attach(agent)).toBe(detach)
    const run = agent.run('x')
    await eventually(async () => expect((await exporter.json()).byAgent.slow?.activeRuns).toBe(1))
    detach()
    gate.resolve()
    await run
    expect((await exporter.json()).byAgent.slow).toMatchObject({ runs: 1, activeRuns: 0 })
    expect(agent.events.size).toBe(0)
    exporter.attach(agent)
    await agent.run('x')
    expect((await exporter.json()).byAgent.slow?.runs).toBe(2)
  })
})

describe('viewers', () => {
  it('are no more than may be', async () => {
    const { handler } = serve(finishing(tokens), new MetricsExporter())
    const watch = () => handler(new Request('http://127.0.0.1/api/metrics/stream'))
    const first = await watch()
    const others = await Promise.all(Array.from({ length: 99 }, watch))
    expect(others.every(({ status }) => status === 200)).toBe(true)
    expect((await watch()).status).toBe(429)
    await first.body?.cancel()
    expect((await watch()).status).toBe(200)
  })

  it('are let go where their streams are not read', () => {
    vi.useFakeTimers()
    const feed = new LiveFeed()
    feed.watch()
    const tell = () => {
      for (let event = 0; event < 300; event++) feed.publish('1')
    }
    tell()
    expect(feed.viewers).toBe(1)
    vi.advanceTimersByTime(61_000)
    tell()
    expect(feed.viewers).toBe(0)
    vi.useRealTimers()
  })
})

describe('a store that fails', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('loses nothing, and says so', async () => {
    const inner = memoryStore()
    let isBroken = true
    const store: Store = {
      ...inner,
      write(work) {
        if (isBroken) throw new Error('database is locked')
        return inner.write(work)
      },
      read(work) {
        if (isBroken) throw new Error('database is locked')
        return inner.read(work)
      },
    }
    const onError = vi.fn()
    const { core } = new MetricsExporter()
    core.connect(each => createLocalStorage(each, store, onError))
    const servable = { run: async () => ({}) as never }
    for (let run = 0; run < 3; run++) {
      core
        .start({ kind: 'agent', name: 'a', servable, runId: 'run' })
        .end({ type: 'finish', finishReason: 'stop' }, 1)
      await vi.advanceTimersByTimeAsync(500)
    }
    await expect(core.snapshot()).rejects.toThrow('locked')
    expect(onError).toHaveBeenCalled()
    isBroken = false
    await vi.advanceTimersByTimeAsync(5000)
    expect((await core.snapshot()).counted[0]?.stats.runs).toBe(3)
    expect(inner.transact(tx => readStats(tx))).toHaveLength(1)
  })

  it('keeps no more names and tools than may be, whoever counted them', () => {
    const store = memoryStore()
    for (let part = 0; part < 120; part++) {
      const { core } = new MetricsExporter({ maxNames: 3 })
      core.connect(() => ({ changed() {}, snapshot: () => core.snapshot(), history: async () => [] }))
      const servable = { run: async () => ({}) as never }
      const meter = core.start({ kind: 'agent', name: `agent ${part}`, servable, runId: 'run' })
      meter.event({ type: 'tool_call_start', toolCall: { id: '1', name: `tool ${part}` } })
      meter.end({ type: 'finish', finishReason: 'stop' }, 1)
      const batch = core.take()!
      store.transact(tx => addBatch(tx, batch))
    }
    const kept = store.transact(tx => readStats(tx))
    expect(kept.map(([key]) => key).sort()).toEqual([
      'agent:agent 0',
      'agent:agent 1',
      'agent:agent 2',
      'agent:other',
    ])
    const other = kept.find(([key]) => key === 'agent:other')![1]
    expect(Object.keys(other.tools)).toHaveLength(101)
    expect(Object.values(other.tools).reduce((a, b) => a + b)).toBe(117)
  })
})
