/** The last answer of a model, which uses a budget up. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ModelAgent } from '../../../src/adapters/model-agent/index.ts'
import { approvals } from '../../../src/features/approvals/plugin.ts'
import type { Tool } from '../../../src/index.ts'
import { LONG_MS, service } from '../../features/budgets/kit.ts'
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
    {
      agents: { payer },
      pricing: {},
      plugins: [approvals({ authorize: (_, { identity }) => identity !== undefined })],
    },
  )
  const run = (who = 'ann') => ask('agents/payer/run', who, { input: 'Pay' })
  return { paid, ask, run }
}

/** What a run waits for. */
const waitingIn = (body: object) => body as { runId: string; requests: { id: string }[] }

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
    const { runId, requests } = waitingIn((await run()).body)
    const answers = requests.map(({ id }) => ({ id, decision: 'approve' }))
    const { status, body: told } = await ask(`runs/${runId}/answers`, 'ann', { answers })
    expect([status, told.text, paid.length]).toEqual([200, 'Paid', 1])
    expect(await run()).toMatchObject({ status: 429, body: { code: 'budget_exceeded' } })
  })
})

describe.each([true, false])('a budget that is used up, with `resume` %s', resume => {
  it('does not end a run that waits for an approval and asks no model', async () => {
    const { run } = serve(10, resume, { needsApproval: true })
    provider.script(calls(['pay', { amount: 1 }]))
    expect(await run()).toMatchObject({ status: 200, body: { finishReason: 'input_required' } })
    expect(provider.asked).toHaveLength(1)
  })

  it('refuses the last answer, and leaves what waits as it was', async () => {
    const { run, ask, paid } = serve(10, resume, { needsApproval: true })
    provider.script(calls(['pay', { amount: 1 }]))
    const { runId, requests } = waitingIn((await run()).body)
    const answers = requests.map(({ id }) => ({ id, decision: 'approve' }))
    const mine = await ask(`runs/${runId}/answers`, 'ann', { answers })
    expect(mine).toMatchObject({ status: 429, body: { code: 'budget_exceeded', remainingTokens: 0 } })
    const other = await ask(`runs/${runId}/answers`, 'bob', { answers })
    expect([other.status, other.body.code]).toEqual([429, 'budget_exceeded'])
    // The budget is not the approver's.
    expect(other.body).not.toHaveProperty('remainingTokens')
    expect((await ask(`runs/${runId}`, 'ann')).body).toMatchObject({ waiting: true, requests })
    const { body } = await ask('approvals?whose=others', 'bob')
    expect((body as { approvals?: unknown[] }).approvals).toHaveLength(1)
    expect(paid).toEqual([])
  })

  it('says when a run at work may be tried again', async () => {
    const { run } = serve(19, resume)
    provider.script(calls(['pay', { amount: 1 }]), says('Paid'))
    const { status, body, headers } = await run()
    expect([status, body.code]).toEqual([429, 'budget_exceeded'])
    expect(body).toMatchObject({ budget: 'owner', remainingTokens: 9, resetAt: expect.any(String) })
    expect(headers.get('retry-after')).toBe(String(body.retryAfter))
  })

  it('lets others in after a call that was larger than all of it', async () => {
    const { run } = serve(8, resume)
    provider.script(says('Hello'))
    expect((await run('ed')).status).toBe(200)
    expect((await run('fay')).status).toBe(200)
    expect((await run('fay')).status).toBe(429)
  })
})
