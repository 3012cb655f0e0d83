/** What is kept of deliveries has an end, and what a store throws ends nothing. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { localCalls } from '../../../src/core/transaction-calls.ts'
import { resolveWebhooks } from '../../../src/features/webhooks/options.ts'
import type { RunNotice } from '../../../src/features/webhooks/payload.ts'
import { webhookTransactions } from '../../../src/features/webhooks/transactions.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store } from '../../../src/stores/store.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { eventually } from '../../eventually.ts'
import { delivering, type Running, secret } from './kit.ts'

/** Tries again at once. */
const QUICK = { retryMs: 1, maxRetryMs: 1, timeoutMs: 100 }

async function run({ ask }: Running, more: object = {}): Promise<string> {
  const body = { input: 'x', background: true, ...more }
  const { runId } = await (await ask('agents/echo/run', jsonRequest(body))).json()
  await eventually(async () => {
    expect(await (await ask(`runs/${runId}`)).json()).toMatchObject({ status: 'completed' })
  })
  return runId
}

describe('deliveries', () => {
  it('are kept up to a number for each subscription: the oldest go', async () => {
    const { enter, receiver, release } = await delivering({ maxDeliveries: 5 })
    receiver.way = 'hold'
    const { test, deliveries } = await enter()
    for (let count = 0; count < 30; count++) await test()
    const before = await deliveries()
    expect(before).toHaveLength(30)
    release()
    await eventually(async () => {
      expect(await deliveries()).toMatchObject(
        before.slice(0, 5).map(({ id }) => ({ id, status: 'delivered' })),
      )
    })
  })

  it('are not listed once their time has come, and go soon after', async () => {
    const { enter, receiver, release, all } = await delivering({ retentionMs: 1 })
    receiver.way = 'hold'
    const { test, deliveries } = await enter()
    const id = await test()
    await eventually(async () => expect(await deliveries()).toEqual([]))
    expect(all()).toContain(id)
    release()
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    vi.setSystemTime(Date.now() + 120_000)
    await test()
    await eventually(() => expect(all()).not.toContain(id))
  })

  it('come once where a notice comes twice', async () => {
    const settings = resolveWebhooks({ subscriptions: [{ id: 'own', url: 'https://example.com/', secret }] })
    const store = memoryStore()
    const calls = localCalls(store as unknown as Store, webhookTransactions(settings))
    const noticeOf = (runId: string, timestamp: string): RunNotice => {
      const run = { runId, kind: 'agent', name: 'echo', status: 'completed', createdAt: '' } as const
      return { type: 'run.completed', owner: null, timestamp, run }
    }
    // Whoever does not know whether they were taken tells them again.
    await calls.enqueue('', [noticeOf('1', 'first')], true)
    await calls.enqueue('', [noticeOf('1', 'again'), noticeOf('2', 'again')], true)
    const { values } = await calls.deliveries('', 'own', undefined, { limit: 9 })
    expect(values.map(({ body }) => JSON.parse(body).timestamp).toSorted()).toEqual(['again', 'first'])
  })

  it('of a subscription that the deployment no longer has fail, and hold up nothing', async () => {
    const { enter, receiver, all, url } = await delivering({ ...QUICK })
    receiver.way = 'fail'
    const before = await enter()
    await before.test()
    await eventually(() => expect(receiver.got.length).toBeGreaterThan(0))
    before.die()
    receiver.way = 'take'
    const after = await enter({ subscriptions: [{ id: 'other', url, secret }] })
    await eventually(() => expect(all()).toContain('the webhook was deleted or disabled'))
    const { id } = await (await after.ask('admin/webhooks/other/test', { method: 'POST' })).json()
    await eventually(() => expect(receiver.got).toContain(id))
  })

  it('never keep a run from ending in a store that is full: the oldest go', async () => {
    const memory = memoryStore(65_536)
    const { enter, receiver } = await delivering({}, memory as unknown as Store)
    receiver.way = 'hold'
    const process = await enter()
    let last = ''
    for (let count = 0; count < 100; count++) last = await run(process)
    const kept = await process.deliveries()
    expect(kept[0]?.runId).toBe(last)
    expect(kept.length).toBeLessThan(100)
  })

  it('that a run asked for find its receiver when they are sent again', async () => {
    const { enter, receiver, url } = await delivering({ subscriptions: [], runs: { secret } })
    const process = await enter()
    const { ask } = process
    await run(process, { webhook: { url } })
    const list = async () => (await (await ask('admin/webhooks/run/deliveries')).json()).deliveries
    await eventually(async () => expect(await list()).toMatchObject([{ status: 'delivered' }]))
    const [{ id }] = await list()
    await ask(`admin/webhooks/run/deliveries/${id}/replay`, { method: 'POST' })
    await eventually(() => expect(receiver.got).toEqual([id, id]))
    const test = await ask('admin/webhooks/run/test', { method: 'POST' })
    expect(await test.json()).toMatchObject({ code: 'webhook_not_found' })
  })

  it('are not written back by who sends them, once they are dropped', async () => {
    const { enter, receiver, release, all } = await delivering()
    receiver.way = 'hold'
    const process = await enter()
    const { ask, test, deliveries } = process
    const { id: sessionId } = await (await ask('sessions', jsonRequest({ name: 'echo' }))).json()
    const dropped = await run(process, { sessionId })
    const runId = await run(process)
    await eventually(() => expect(receiver.got).toHaveLength(2))
    expect((await ask(`agents/echo/sessions/${sessionId}`, { method: 'DELETE' })).status).toBe(204)
    release()
    const status = 'delivered'
    await eventually(async () => expect(await deliveries()).toMatchObject([{ runId, status }]))
    const id = await test()
    await eventually(async () => expect(await deliveries()).toMatchObject([{ id, status }, { runId }]))
    expect(all()).not.toContain(dropped)
  })

  it('have nothing of the deployment: neither a secret nor an address', async () => {
    const { enter, receiver, all } = await delivering()
    receiver.way = 'hold'
    const { test } = await enter()
    const id = await test()
    await eventually(() => expect(receiver.got).toEqual([id]))
    expect(all()).toContain(id)
    expect(all()).not.toMatch(new RegExp(`canary|${secret}`))
  })

  it('are sent by the next sweep where a store threw', async () => {
    const { enter, receiver, costs } = await delivering(QUICK)
    receiver.way = 'hold'
    const state = { isBroken: false }
    const { test, deliveries } = await enter({}, state)
    const id = await test()
    // A receiver that holds an attempt is tried again, perhaps before anybody looks.
    await eventually(() => expect(receiver.got).toContain(id))
    state.isBroken = true
    // What came of it, and the sweep after that.
    await eventually(() => expect(costs.failures).toBeGreaterThanOrEqual(2))
    state.isBroken = false
    receiver.way = 'take'
    await eventually(async () => expect(await deliveries()).toMatchObject([{ id, status: 'delivered' }]))
  })
})
