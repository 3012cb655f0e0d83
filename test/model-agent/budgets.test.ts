/** The last answer of a model, which uses a budget up. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { approvals } from '../../src/approvals/plugin.ts'
import type { Tool } from '../../src/index.ts'
import { ModelAgent } from '../../src/model-agent/index.ts'
import { LONG_MS, service } from '../budgets/kit.ts'
import { calls, type Provider, says, startProvider } from './provider.ts'

let provider: Provider
beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.stop())

/** Each call of the model takes 10 tokens. */
const serve = (maxTokens: number, resume: boolean, more: Partial<Tool> = {}) => {
  const paid: unknown[] = []
  const payer = new ModelAgent({
    name: 'payer',
    register: false,
    resume,
    model: () =>
      createOpenAICompatible({ name: 'provider-a', baseURL: provider.url, apiKey: 'k', includeUsage: true })(
        'm',
      ),
    tools: [{ name: 'pay', execute: args => void paid.push(args), ...more }],
  })
  const { ask } = service(
    { maxTokens, windowMs: LONG_MS, key: 'owner' },
    { agents: { payer }, pricing: {}, plugins: [approvals()] },
  )
  return { paid, ask, run: (body: object = {}) => ask('agents/payer/run', 'ann', { input: 'Pay', ...body }) }
}

describe.each([
  ['kept as it goes', true],
  ['not kept', false],
])('the answer of a model that uses a budget up: work %s', (_, resume) => {
  it.each([10, 8, 5])('is told, of %i tokens for one call, and the next run is refused', async max => {
    const { run } = serve(max, resume)
    provider.script(says('Hello ', 'you'))
    const { status, body } = await run()
    expect([status, body.text]).toEqual([200, 'Hello you'])
    expect(await run()).toMatchObject({ status: 429, body: { code: 'budget_exceeded' } })
  })

  it('is told after a tool', async () => {
    const { run, paid } = serve(20, resume)
    provider.script(calls(['pay', { amount: 1 }]), says('Paid'))
    const { status, body } = await run()
    expect([status, body.text, paid.length]).toEqual([200, 'Paid', 1])
    expect(await run()).toMatchObject({ status: 429, body: { code: 'budget_exceeded' } })
  })

  it('is told after an approval', async () => {
    const { run, paid, ask } = serve(20, resume, { needsApproval: true })
    provider.script(calls(['pay', { amount: 1 }]), says('Paid'))
    const { body } = await run()
    const { runId, requests } = body as { runId: string; requests: { id: string }[] }
    const answers = requests.map(({ id }) => ({ id, decision: 'approve' }))
    const { status, body: told } = await ask(`runs/${runId}/answers`, 'ann', { answers })
    expect([status, told.text, paid.length]).toEqual([200, 'Paid', 1])
    expect(await run()).toMatchObject({ status: 429, body: { code: 'budget_exceeded' } })
  })
})
