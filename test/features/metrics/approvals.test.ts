import { describe, expect, it } from 'vitest'
import { Stats } from '../../../src/features/metrics/stats.ts'
import { createHandler, type InputRequest, MetricsExporter, Registry } from '../../../src/index.ts'
import { asking } from '../../contracts/fixture/asking.ts'
import { jsonRequest } from '../../contracts/http/client.ts'

const make = () => {
  const metricsExporter = new MetricsExporter()
  const handler = createHandler({ agents: asking, registry: new Registry(), logger: false, metricsExporter })
  const post = async (path: string, body: object) => {
    const init = jsonRequest(body)
    const response = await handler(new Request(`http://127.0.0.1/api/${path}`, init))
    return (await response.json()) as { runId: string; requests: readonly InputRequest[] }
  }
  const ask = async (decision: 'approve' | 'deny') => {
    const { runId, requests } = await post('agents/refunds/run', { input: 'order' })
    await post(`runs/${runId}/answers`, { answers: [{ id: requests[0]?.id, decision }] })
  }
  return { metricsExporter, post, ask }
}

describe('runs that wait', () => {
  it('are counted as what they are, with what was asked and decided', async () => {
    const { metricsExporter, post, ask } = make()
    for (const decision of ['approve', 'approve', 'deny'] as const) await ask(decision)
    await post('agents/refunds/run', { input: 'order' })
    await post('agents/sizes/run', { input: 'shirt' })
    const { byAgent, global } = await metricsExporter.json()
    // A call that waits is one of the run that makes it.
    expect(byAgent.refunds).toMatchObject({ runs: 7, errors: 0, toolCallCount: 3 })
    expect(byAgent.refunds?.toolUsageFrequency).toEqual({ refund: 3 })
    expect(byAgent.refunds?.approvals).toEqual({ asked: 4, approved: 2, denied: 1 })
    expect(global.approvals).toEqual({ asked: 4, approved: 2, denied: 1 })
    expect(byAgent.sizes).not.toHaveProperty('approvals')
    const text = await metricsExporter.text()
    expect(text).toContain('service_agent_approvals_total{agent="refunds",state="asked"} 4\n')
    expect(text).toContain('service_agent_approvals_total{agent="refunds",state="approved"} 2\n')
    expect(text).toContain('service_agent_approvals_total{agent="refunds",state="denied"} 1\n')
    expect(text).toContain(
      'service_agent_runs_by_outcome_total{agent="refunds",outcome="input_required"} 4\n',
    )
    expect(text).toContain('service_agent_runs_by_outcome_total{agent="refunds",outcome="stop"} 3\n')
  })

  it('are counted once, where their agents are attached as well', async () => {
    const { metricsExporter, ask } = make()
    metricsExporter.attach(asking.refunds!)
    await ask('deny')
    const { byAgent } = await metricsExporter.json()
    expect(byAgent.refunds).toMatchObject({ runs: 2, approvals: { asked: 1, approved: 0, denied: 1 } })
  })

  it('are counted by their bus alone, where nobody serves them', async () => {
    const metricsExporter = new MetricsExporter()
    metricsExporter.attach(asking.refunds!)
    await asking.refunds?.run?.('order')
    const { byAgent } = await metricsExporter.json()
    expect(byAgent.refunds).toMatchObject({ runs: 1, approvals: { asked: 1, approved: 0, denied: 0 } })
  })

  it('read counts that were kept before they were counted', () => {
    const { approvals: _, ...before } = new Stats().toJSON()
    expect(Stats.from(before).toJSON().approvals).toEqual({})
  })
})
