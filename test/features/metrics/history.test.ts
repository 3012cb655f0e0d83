import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addSteps,
  History,
  HistoryStep,
  readSteps,
  toHistoryJson,
} from '../../../src/features/metrics/history.ts'
import type { RunSample } from '../../../src/features/metrics/stats.ts'
import { Agent, createHandler, MetricsExporter } from '../../../src/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'

const HOUR = 3_600_000
const STEP_MS = 30_000
const NOW = Date.parse('2026-11-20T12:00:10Z')

const sample = fc.record({
  outcome: fc.constantFrom('stop', 'error', 'cancelled'),
  durationMs: fc.integer({ min: 1, max: 100_000 }),
  firstTextMs: fc.option(fc.integer({ min: 1, max: 1000 }), { nil: undefined }),
  usage: fc.option(
    fc.record({ promptTokens: fc.nat(9), completionTokens: fc.nat(9), totalTokens: fc.nat(100) }),
    { nil: undefined },
  ),
  cost: fc.option(fc.nat(8), { nil: undefined }),
  tools: fc.constant(undefined),
}) as fc.Arbitrary<RunSample>

/** Runs by when they ended, in order, up to three hours ago. */
const runs = fc
  .array(fc.tuple(fc.integer({ min: NOW - 3 * HOUR, max: NOW }), sample), { maxLength: 40 })
  .map(all => all.toSorted(([a], [b]) => a - b))

describe('the last hour', () => {
  it('is the same, however it is cut into batches and wherever they are added', () => {
    fc.assert(
      fc.property(runs, fc.nat(5), (all, cut) => {
        const whole = new History()
        const store = memoryStore()
        let part = new History()
        for (const [index, [at, each]] of all.entries()) {
          whole.record(each, at)
          part.record(each, at)
          if (index % 6 !== cut) continue
          const steps = part.steps().map(step => step.toJSON())
          store.write(tx => addSteps(tx, steps))
          part = new History()
        }
        const kept = store.read(readSteps) as ReturnType<typeof readSteps>
        const both = [...kept.map(HistoryStep.from), ...part.steps()]
        expect(toHistoryJson(both, NOW)).toEqual(toHistoryJson(whole.steps(), NOW))
        expect(kept.length).toBeLessThanOrEqual(120)
      }),
    )
  })

  it('has each run of the hour once, and no other', () => {
    fc.assert(
      fc.property(runs, all => {
        const history = new History()
        for (const [at, each] of all) history.record(each, at)
        const { steps } = toHistoryJson(history.steps(), NOW)
        const first = Date.parse(steps[0]!.at)
        expect(steps).toHaveLength(120)
        expect(Date.parse(steps.at(-1)!.at)).toBe(NOW - (NOW % STEP_MS))
        const inside = all.filter(([at]) => at >= first)
        expect(steps.reduce((sum, { runs }) => sum + runs, 0)).toBe(inside.length)
        const failed = inside.filter(([, { outcome }]) => outcome === 'error')
        expect(steps.reduce((sum, { errors }) => sum + errors, 0)).toBe(failed.length)
      }),
    )
  })

  it('drops what comes later than an hour', () => {
    const store = memoryStore()
    const stepAt = (at: number) => {
      const history = new History()
      history.record({ outcome: 'stop', durationMs: 1 } as RunSample, at)
      return history.steps().map(step => step.toJSON())
    }
    store.write(tx => addSteps(tx, stepAt(NOW)))
    store.write(tx => addSteps(tx, stepAt(NOW - HOUR)))
    const kept = store.read(readSteps) as ReturnType<typeof readSteps>
    expect(kept.map(({ at }) => at)).toEqual([NOW - (NOW % STEP_MS)])
  })
})

describe('GET /metrics/history', () => {
  const served = (metricsExporter: MetricsExporter) => {
    const echo = new Agent({ name: 'echo', register: false, run: () => 'x' })
    const handler = createHandler({ agents: { echo }, registry: false, logger: false, metricsExporter })
    return (path: string, init?: RequestInit) => handler(new Request(`http://127.0.0.1/api${path}`, init))
  }

  it('says how to turn it on', async () => {
    const response = await served(new MetricsExporter())('/metrics/history')
    expect(response.status).toBe(404)
    expect((await response.json()).detail).toContain('history: true')
  })

  it('has the runs in memory', async () => {
    const ask = served(new MetricsExporter({ history: true }))
    const headers = { 'content-type': 'application/json' }
    await ask('/agents/echo/run', { method: 'POST', headers, body: '{"input":"x"}' })
    const { steps } = await (await ask('/metrics/history')).json()
    expect(steps.reduce((sum: number, { runs }: { runs: number }) => sum + runs, 0)).toBe(1)
  })

  it('is an option that is true or false', () => {
    expect(() => new MetricsExporter({ history: 60 as never })).toThrow('`history`')
  })
})
