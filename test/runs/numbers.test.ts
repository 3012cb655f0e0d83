/** The numbers of runs in their records. */
import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../src/agents/contract.ts'
import { Fold } from '../../src/agents/fold.ts'
import { metrics } from '../../src/features/metrics/plugin.ts'
import {
  Agent,
  createHandler,
  type HandlerOptions,
  MetricsExporter,
  type RunRecord,
} from '../../src/index.ts'
import { numbersOf } from '../../src/runs/numbers.ts'
import { createLocalHost } from '../../src/runs/stored/local-host.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { journalled } from '../contracts/run-host/journalled.ts'
import { ending, read, unique, waitFor } from '../contracts/run-host/kit.ts'
import { reopened, SETTINGS } from '../contracts/run-host/local.ts'
import { recorded } from '../contracts/run-host/recorded.ts'
import { countOf, openGate } from '../contracts/run-host/scripted.ts'

const usage = { promptTokens: 3, completionTokens: 2, totalTokens: 5 }
const amount = expect.any(Number)

function folded(...events: RunEvent[]): Fold {
  const fold = new Fold()
  for (const event of events) fold.add(event)
  return fold
}

describe('numbersOf', () => {
  it('has what is known, and nothing else', () => {
    expect(numbersOf(folded(), 5, undefined)).toEqual({ durationMs: 5, toolCalls: 0 })
    const told = folded(
      { type: 'tool_call_start', toolCall: { id: '1', name: 'look' }, at: 1 },
      { type: 'model_call', model: 'p/one', at: 2 },
      { type: 'message', parts: [], at: 3 },
      { type: 'text', text: 'x', at: 4 },
      { type: 'model_call', model: 'p/two', at: 5 },
      { type: 'finish', finishReason: 'stop', usage: { ...usage, cost: 2 }, at: 6 },
    )
    const known = { durationMs: 9, firstTextMs: 3, usage: { ...usage, cost: 2 }, toolCalls: 1 }
    expect(numbersOf(told, 9, undefined)).toEqual({ ...known, cost: 2, model: 'p/one' })
    const own = { provider: 'p', id: 'own' }
    expect(numbersOf(told, 9, own, () => undefined)).toEqual({ ...known, model: 'p/own' })
  })

  it('names the first model of the usage if no event names one', () => {
    const models = [{ ...usage, model: 'p/part' }]
    const told = folded({ type: 'finish', finishReason: 'stop', usage: { ...usage, models } })
    expect(numbersOf(told, 1, undefined).model).toBe('p/part')
  })

  it('keeps the first text of a run that goes on after a crash', () => {
    const told = folded(
      { type: 'text', text: 'x', at: 4 },
      { type: 'tool_call_start', toolCall: { id: '1', name: 'look' } },
      { type: 'resumed', at: 100 },
      { type: 'text', text: 'x', at: 101 },
    )
    expect(numbersOf(told, 200, undefined)).toEqual({ durationMs: 200, firstTextMs: 4, toolCalls: 0 })
  })
})

/** A service with an agent that uses tokens, and the record of a run of it. */
async function recordOf(options: HandlerOptions): Promise<RunRecord> {
  const model = { provider: 'p', id: 'm' }
  const spends = new Agent({ name: 'spends', model, register: false, run: () => ({ text: 'x', usage }) })
  const handler = createHandler({ serve: [spends], ...options })
  const body = JSON.stringify({ input: 'x', background: true })
  const headers = { 'content-type': 'application/json' }
  const url = 'http://127.0.0.1/api/agents/spends/run'
  const response = await handler(new Request(url, { method: 'POST', headers, body }))
  const id = response.headers.get('x-run-id')
  return (await handler(new Request(`http://127.0.0.1/api/runs/${id}`))).json()
}

const price = { m: { prompt: 1_000_000, completion: 0 } }
const half = { m: { prompt: 500_000, completion: 0 } }

describe('the record of a run', () => {
  it('has no numbers without `runs.measure`', async () => {
    const record = await recordOf({ pricing: price })
    expect(Object.keys(record).sort()).toEqual(
      ['createdAt', 'finishReason', 'id', 'kind', 'name', 'result', 'status', 'updatedAt'].sort(),
    )
  })

  it.each<[string, number | undefined, HandlerOptions]>([
    ['no prices', undefined, {}],
    ['prices alone', 3, { pricing: price }],
    [
      'the prices of the exporter',
      3,
      { pricing: half, metricsExporter: new MetricsExporter({ pricing: price }) },
    ],
    ['prices of both', 3, { pricing: price, metricsExporter: new MetricsExporter() }],
    [
      'a plugin of metrics',
      3,
      { pricing: half, plugins: [metrics(new MetricsExporter(), { pricing: price })] },
    ],
  ])('has the cost as metrics have it, with %s', async (_, cost, options) => {
    const record = await recordOf({ ...options, runs: { measure: true } })
    expect(record).toMatchObject({
      durationMs: record.result?.durationMs,
      usage,
      model: 'p/m',
      transport: 'http',
    })
    expect(record.cost).toBe(cost)
  })

  it('is not written more often', async () => {
    const writes = async (measure: boolean) => {
      const store = recorded(memoryStore())
      const settings = { ...SETTINGS, measure }
      const host = createLocalHost({ store, settings, retention: {} })
      const servable = new Agent({ name: 'a', register: false, run: () => 'x' })
      const target = { kind: 'agent', name: 'a', servable } as const
      const asked = { target, input: 'x', options: {}, owner: null, isBackground: true }
      const { id } = await host.start({ ...asked, ...(measure && { transport: 'http' }) })
      await ending(host, id)
      return { text: store.written(), id }
    }
    const [off, on] = [await writes(false), await writes(true)]
    expect(on.text.split(on.id).length).toBe(off.text.split(off.id).length)
    expect(on.text).toContain('durationMs')
    expect(on.text.split('toolCalls":0')).toHaveLength(2)
    expect(off.text).not.toContain('toolCalls":0')
  })
})

describe('a run that goes on after a crash', () => {
  it('has numbers of the whole', async () => {
    const store = memoryStore()
    const target = { kind: 'workflow', name: 'journalled', servable: journalled } as const
    const settings = { ...SETTINGS, measure: true, targetOf: () => target }
    const hostOf = (state: typeof store) => createLocalHost({ store: state, settings, retention: {} })
    const [at, gate] = [unique('at'), unique('gate')]
    const input = JSON.stringify([
      { step: 'one', say: 'a' },
      { step: 'two', count: at, gate, say: 'b' },
    ])
    const request = { target, input, options: {}, owner: null, isBackground: true, transport: 'http' }
    const { id } = await hostOf(store).start(request)
    await waitFor(() => countOf(at) === 1)
    const host = hostOf(reopened(store) as typeof store)
    openGate(gate)
    const record = await ending(host, id)
    const events = (await read(host, id)).map(({ data }) => JSON.parse(data) as RunEvent)
    expect(events.some(({ type }) => type === 'resumed')).toBe(true)
    const first = events.find(({ type }) => type === 'text')?.at
    expect(record).toMatchObject({ transport: 'http', firstTextMs: first, durationMs: amount, toolCalls: 0 })
    expect(record.durationMs).toBeGreaterThanOrEqual(events.find(({ type }) => type === 'resumed')?.at ?? 0)
  })
})
