/** What is kept of deliveries has an end, and what a store throws ends nothing. */
import { describe, expect, it, vi } from 'vitest'
import { deferred } from '../../../src/base/wake.ts'
import { localCalls } from '../../../src/core/transaction-calls.ts'
import { Deliverer } from '../../../src/features/webhooks/delivery/deliverer.ts'
import { DELIVERIES, DUE, type KeptDelivery } from '../../../src/features/webhooks/kept.ts'
import { createMail } from '../../../src/features/webhooks/mail.ts'
import { resolveWebhooks, type WebhooksOptions } from '../../../src/features/webhooks/options.ts'
import type { RunNotice } from '../../../src/features/webhooks/payload.ts'
import { webhookTransactions } from '../../../src/features/webhooks/transactions.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store } from '../../../src/stores/store.ts'
import { eventually } from '../../eventually.ts'

const secret = btoa('x'.repeat(32))

function noticeOf(id: number): RunNotice {
  const [runId, timestamp] = [`run-${id}`, new Date(id).toISOString()]
  const run = { runId, kind: 'agent', name: 'echo', status: 'completed', createdAt: timestamp } as const
  return { type: 'run.completed', owner: null, timestamp, run }
}

/** A deliverer over a store, with a receiver that answers what it is told. */
function opened(
  options: WebhooksOptions,
  inner: Store = memoryStore() as unknown as Store,
  answered: Promise<void> = Promise.resolve(),
) {
  const settings = resolveWebhooks({
    subscriptions: [{ id: 'own', url: 'https://example.com/', secret }],
    ...options,
  })
  const works = webhookTransactions(settings)
  const sent: string[] = []
  const work: Promise<void>[] = []
  const givenUp = vi.fn()
  const deliverer: Deliverer<never, never> = new Deliverer({
    store: inner,
    settings,
    mail: createMail(settings, async () => undefined),
    sender: {
      check: async () => {},
      async send({ id }) {
        sent.push(id)
        await answered
        return { how: 'taken', status: 200 }
      },
    },
    keepAlive: each => void work.push(each),
    schedule: () => {},
    onGivenUp: givenUp,
  }) as never
  const kept = async () =>
    (await inner.read(tx => tx.oldest<KeptDelivery>(DELIVERIES, 1000))).map(({ value }) => value)
  return { settings, works, calls: localCalls(inner, works), store: inner, sent, work, deliverer, kept }
}

describe('deliveries', () => {
  it('are kept up to a number for each subscription: the oldest go', async () => {
    const { calls, deliverer, kept, sent, store } = opened({ maxDeliveries: 5 })
    for (let id = 0; id < 30; id++) await calls.enqueue('', [noticeOf(id)])
    deliverer.sweep()
    await eventually(async () => {
      expect(sent.length).toBeGreaterThan(4)
      expect(await kept()).toHaveLength(5)
      expect(await store.read(tx => tx.count(DUE))).toBe(0)
    })
    expect((await kept()).every(({ status }) => status === 'delivered')).toBe(true)
  })

  it('are not listed once their time has come, and go with the next try', async () => {
    const { calls, deliverer, kept } = opened({ retentionMs: 1 })
    await calls.enqueue('', [noticeOf(1)])
    await eventually(async () => {
      const page = await calls.deliveries('', 'own', undefined, { limit: 10 })
      expect(page.values).toEqual([])
    })
    deliverer.sweep()
    await eventually(async () => expect(await kept()).toEqual([]))
  })

  it('come once where a notice comes twice', async () => {
    const { calls, kept } = opened({})
    await calls.enqueue('', [noticeOf(1)], true)
    await calls.enqueue('', [noticeOf(1), noticeOf(2)], true)
    expect(await kept()).toHaveLength(2)
  })

  it('of a subscription that the deployment no longer has fail, and hold up nothing', async () => {
    const before = opened({})
    await before.calls.enqueue('', [noticeOf(1)])
    const after = opened({ subscriptions: [] }, before.store)
    after.deliverer.sweep()
    await eventually(async () => {
      expect(await after.kept()).toMatchObject([{ status: 'failed', error: /deleted/ }])
    })
    expect(after.sent).toEqual([])
  })

  it('never keep a run from ending in a store that is full: the oldest go', async () => {
    const memory = memoryStore(20_000)
    const { calls, kept } = opened({}, memory as unknown as Store)
    for (let id = 0; id < 100; id++) await calls.enqueue('', [noticeOf(id)])
    expect(memory.usedBytes).toBeLessThanOrEqual(20_000)
    expect((await kept()).at(-1)?.runId).toBe('run-99')
  })

  it('that a run asked for find its receiver when they are sent again', async () => {
    const { calls, deliverer, sent, kept } = opened({ subscriptions: [], runs: { secret } })
    await calls.enqueue('', [{ ...noticeOf(1), url: 'https://example.com/mine' }])
    deliverer.sweep()
    await eventually(async () => expect(await kept()).toMatchObject([{ status: 'delivered' }]))
    const [{ id } = { id: '' }] = await kept()
    await calls.replay('', 'run', undefined, id)
    deliverer.sweep()
    await eventually(() => expect(sent).toEqual([id, id]))
    await expect(calls.test('', 'run', undefined, 'x')).rejects.toMatchObject({ code: 'webhook_not_found' })
  })

  it('of an owner go with its webhooks', async () => {
    const { calls, kept } = opened({ subscriptions: [], clients: true })
    const about = {
      id: 'wh_1',
      url: 'https://example.com/',
      secrets: [{ secret }],
      isEnabled: true,
      createdAt: 1,
    }
    await calls.add('', { ...about, owner: 'ann' })
    await calls.add('', { ...about, id: 'wh_2', owner: 'bob' })
    for (const owner of ['ann', 'bob']) await calls.enqueue('', [{ ...noticeOf(1), owner }])
    expect(await kept()).toHaveLength(2)
    expect(await calls.forget('', 'ann')).toBe(true)
    expect(await kept()).toMatchObject([{ owner: 'bob' }])
    expect(await calls.list('', undefined)).toMatchObject([{ owner: 'bob' }])
    expect(await calls.forget('', 'ann')).toBe(false)
  })

  it('are not written back by who sends them, once they are dropped', async () => {
    const { promise, resolve } = deferred<void>()
    const { calls, deliverer, sent, work, store } = opened({}, undefined, promise)
    await calls.enqueue('', [noticeOf(1111), noticeOf(11_111)])
    deliverer.sweep()
    await eventually(() => expect(sent).toHaveLength(2))
    await calls.forgetRun('', 'run-1111')
    resolve()
    await Promise.all(work)
    const left = await store.read(tx => [tx.oldest<KeptDelivery>(DELIVERIES, 9), tx.oldest(DUE, 9)] as const)
    expect(left).toMatchObject([[{ value: { runId: 'run-11111', status: 'delivered' } }], []])
  })

  it('of an owner, or of one of its sessions, are found page by page', async () => {
    const { calls, kept } = opened({ maxDeliveries: 1000 })
    const notices = Array.from({ length: 600 }, (_, at) => {
      const notice = noticeOf(at)
      const run = { ...notice.run, ...(at % 3 > 0 && { sessionId: `s${at % 3}` }) }
      return { ...notice, owner: at % 2 === 0 ? 'ann' : 'bob', run }
    })
    await calls.enqueue('', notices)
    const drop = async (what: Parameters<typeof calls.drop>[2]) => {
      let after: Parameters<typeof calls.drop>[3]
      let count = 0
      do {
        const dropped = await calls.drop('', 'own', what, after)
        count += dropped.count
        expect(dropped.count).toBeLessThanOrEqual(100)
        after = dropped.next
      } while (after !== undefined)
      return count
    }
    const session = { kind: 'agent', name: 'echo', id: 's1' } as const
    for (const other of [{ name: 'other' }, { kind: 'team' }, { id: 's3' }] as const)
      expect(await drop({ owner: 'ann', session: { ...session, ...other } })).toBe(0)
    expect(await drop({ owner: null, session })).toBe(0)
    expect(await drop({ owner: 'ann', session })).toBe(100)
    expect(await drop({ owner: 'ann' })).toBe(200)
    expect((await kept()).every(({ owner }) => owner === 'bob')).toBe(true)
    expect(await kept()).toHaveLength(300)
  })

  it('have nothing of the deployment: neither a secret nor an address', async () => {
    const url = 'https://example.com/hook?token=canary'
    const { calls, store } = opened({ subscriptions: [{ id: 'own', url, secret }] })
    await calls.enqueue('', [noticeOf(1)])
    const all = await store.read(tx => [DELIVERIES, DUE].flatMap(name => tx.oldest(name, 10)))
    expect(all).toHaveLength(2)
    expect(JSON.stringify(all)).not.toMatch(new RegExp(`canary|${secret}`))
  })

  it('are sent by the next sweep where a store threw', async () => {
    const inner = memoryStore() as unknown as Store
    let isBroken = false
    const store: Store = {
      ...inner,
      write(work, patienceMs) {
        if (isBroken) throw new Error('no disk')
        return inner.write(work, patienceMs)
      },
    }
    const { calls, deliverer, sent } = opened({}, store)
    await calls.enqueue('', [noticeOf(1)])
    isBroken = true
    deliverer.sweep()
    isBroken = false
    deliverer.sweep()
    await eventually(() => expect(sent).toEqual(['run-1_completed_own']))
  })
})
