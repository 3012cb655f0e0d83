/** Every run counts once, over every transport and with every end. */
import { describe, expect, it } from 'vitest'
import type { MetricsHistory, MetricsStep } from '../../../src/features/metrics/history.ts'
import { eventually } from '../../eventually.ts'
import { askForSocket, jsonRequest, messagesOf } from '../http/client.ts'
import {
  type Count,
  expectCounted,
  type Fate,
  newCount,
  note,
  readJson,
  type Server,
  type Transport,
  transports,
} from './client.ts'

/** One run in ten fails, one is cancelled, and one calls a tool. */
const fateOf = (index: number): Fate => (['fail', 'cancel', 'tool'] as const)[index % 10] ?? 'answer'

/** Makes runs over all transports in turn, several at a time. */
async function makeRuns(ways: readonly Transport[], total: number, count: Count): Promise<void> {
  let next = 0
  const work = async () => {
    for (let index = next++; index < total; index = next++) {
      const fate = fateOf(Math.floor(index / ways.length))
      await ways[index % ways.length]!(fate)
      note(count, fate)
    }
  }
  await Promise.all(Array.from({ length: 16 }, work))
}

/** `total` is the number of runs, a multiple of 40. `socketBy` is the transport of the socket. */
export function countingCases(
  server: Server,
  total: number,
  socketBy: 'websocket' | 'polling' = 'websocket',
): void {
  const count = newCount()

  it(`counts ${total} runs over four transports as their client does`, { timeout: 300_000 }, async () => {
    const ways = await transports(server, 'worker', socketBy)
    await makeRuns(Object.values(ways), total, count)
    await expectCounted(server, 'worker', count)
    expect([count.errors, count.cancels]).toEqual([total / 10, total / 10])
  })

  it('says the same to a scraper, by the seven names of the specification', async () => {
    const text = await (await fetch(`${server().url}/api/metrics`)).text()
    const { byAgent } = await readJson(server)
    const metrics = byAgent.worker!
    const value = (name: string) =>
      Number(new RegExp(`^service_agent_${name}\\{agent="worker"\\} (.*)$`, 'm').exec(text)?.[1])
    expect(value('runs_total')).toBe(count.runs)
    expect(value('errors_total')).toBe(count.errors)
    expect(value('tokens_total')).toBe(count.used * 42)
    expect(value('tool_calls_total')).toBe(count.tools)
    expect(value('cost_usd_total')).toBeCloseTo(count.used * ((30 * 3 + 12 * 15) / 1e6), 9)
    expect(value('duration_ms_avg')).toBe(metrics.avgDurationMs)
    expect(value('duration_ms_p95')).toBe(metrics.p95DurationMs)
    expect(value('runs_active')).toBe(0)
    expect(text).toContain(
      `service_agent_runs_by_outcome_total{agent="worker",outcome="cancelled"} ${count.cancels}\n`,
    )
    expect(text).toContain(`service_agent_run_duration_seconds_count{agent="worker"} ${count.runs}\n`)
    expect(text).toContain(
      `service_agent_tool_calls_by_tool_total{agent="worker",tool="look \\"up\\"\\\\"} ${count.tools}\n`,
    )
  })

  it('has the same in the steps of the last hour', async () => {
    await eventually(async () => {
      const { stepMs, steps }: MetricsHistory = await (
        await fetch(`${server().url}/api/metrics/history`)
      ).json()
      const { global } = await readJson(server)
      expect([stepMs, steps.length]).toEqual([30_000, 120])
      const sum = (of: (step: MetricsStep) => number) => steps.reduce((total, step) => total + of(step), 0)
      expect(sum(step => step.runs)).toBe(global.runs)
      expect(sum(step => step.errors)).toBe(global.errors)
      expect(sum(step => step.cancels)).toBe(global.cancels)
      expect(sum(step => step.tokens)).toBe(global.totalTokens)
      expect(sum(step => step.cost ?? 0)).toBeCloseTo(global.totalCost ?? 0, 9)
      const [slowest] = steps.toSorted((a, b) => b.p95DurationMs - a.p95DurationMs)
      expect(slowest!.p99DurationMs).toBeGreaterThanOrEqual(slowest!.p50DurationMs)
    })
  })

  it('counts teams and workflows under their kind', async () => {
    const run = async (path: string) =>
      (await fetch(`${server().url}/api/${path}/run`, jsonRequest({ input: 'hello' }))).text()
    await Promise.all([run('teams/crew'), run('workflows/flow')])
    await eventually(async () => {
      const { byTeam, byWorkflow, byAgent } = await readJson(server)
      expect([byTeam.crew?.runs, byWorkflow.flow?.runs]).toEqual([1, 1])
      // A member's turn does not count as a run.
      expect(byAgent.worker?.runs).toBe(count.runs)
      const text = await (await fetch(`${server().url}/api/metrics`)).text()
      expect(text).toContain('service_team_runs_total{team="crew"} 1\n')
      expect(text).toContain('service_workflow_runs_total{workflow="flow"} 1\n')
    })
  })

  it('shows runs at work, and streams and sockets that are open', async () => {
    const leaving = new AbortController()
    const response = await fetch(`${server().url}/api/agents/worker/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"input":"wait"}',
      signal: leaving.signal,
    })
    await response.body?.getReader().read()
    const ways = await transports(server, 'quoted "one"\\', socketBy)
    await eventually(async () => {
      // On Workers a gauge shows the last batch of an isolate.
      await ways.socket!('answer')
      const text = await (await fetch(`${server().url}/api/metrics`)).text()
      const value = (name: string) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
      expect(value('service_agent_runs_active\\{agent="worker"\\}')).toBe(1)
      expect(value('service_open_streams')).toBe(1)
      expect(value('service_open_sockets')).toBe(1)
    })
    leaving.abort()
    await eventually(async () => expect((await readJson(server)).byAgent.worker?.activeRuns).toBe(0))
    expect((await readJson(server)).byAgent['quoted "one"\\']?.runs).toBeGreaterThan(0)
  })

  describe('the live stream', () => {
    // A host that leaves the socket with polling keeps all requests for a WebSocket to itself.
    if (socketBy === 'websocket') upgradeCase(server)

    it('tells of starts, tools and ends, without a word of what is said', { timeout: 300_000 }, async () => {
      const leaving = new AbortController()
      const response = await fetch(`${server().url}/api/metrics/stream`, { signal: leaving.signal })
      expect(response.headers.get('content-type')).toBe('text/event-stream')
      const ways = await transports(server, 'worker', socketBy)
      let isDone = false
      const talk = async () => {
        while (!isDone)
          for (const fate of ['answer', 'tool', 'fail', 'cancel'] as const) await ways.socket!(fate)
      }
      const talking = talk()
      const seen = new Map<string, Record<string, unknown>>()
      const texts: string[] = []
      for await (const { event } of messagesOf(response)) {
        const { type, agentName, timestamp, data } = event as unknown as Record<string, unknown>
        texts.push(JSON.stringify(event))
        if (type === 'dropped') continue
        expect([agentName, typeof timestamp]).toEqual(['worker', 'string'])
        const { outcome = '' } = data as { outcome?: string }
        seen.set(`${type} ${outcome}`, data as Record<string, unknown>)
        if (seen.size === 5) break
      }
      isDone = true
      await talking
      leaving.abort()
      expect([...seen.keys()].sort()).toEqual([
        'run.complete cancelled',
        'run.complete stop',
        'run.error ',
        'run.start ',
        'tool.call ',
      ])
      expect(seen.get('run.complete stop')).toMatchObject({
        kind: 'agent',
        totalTokens: 42,
        durationMs: expect.any(Number),
      })
      expect(seen.get('tool.call ')).toEqual({ kind: 'agent', toolName: 'look "up"\\' })
      expect(seen.get('run.error ')).toMatchObject({ code: 'agent_failed' })
      expect(texts.join()).not.toMatch(/hello|as it was told|runId|[\da-f]{8}-[\da-f]{4}/)
    })
  })
}

function upgradeCase(server: Server): void {
  it('gives the places of viewers back who ask for a WebSocket and leave', async () => {
    // A hundred may view at a time.
    const viewers = Array.from({ length: 120 }, () => askForSocket(server, '/api/metrics/stream'))
    const statusOf = (text: string) => /^HTTP\/1\.1 (200|429) [\s\S]*\r\n\r\n/.exec(text)?.[1]
    await eventually(() => expect(viewers.map(({ text }) => statusOf(text()))).not.toContain(undefined))
    expect(viewers.filter(({ text }) => statusOf(text()) === '200').length).toBeGreaterThan(50)
    for (const { socket } of viewers) socket.destroy()
    await eventually(async () => {
      const response = await fetch(`${server().url}/api/metrics/stream`)
      await response.body?.cancel()
      expect(response.status).toBe(200)
    })
  })
}
