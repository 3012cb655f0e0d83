/** Deliveries of which processes die. */
import { expect, it, onTestFinished, vi } from 'vitest'
import { Deliverer } from '../../../src/features/webhooks/delivery/deliverer.ts'
import { nextDueIn } from '../../../src/features/webhooks/delivery/queue.ts'
import type { DeliveryResult } from '../../../src/features/webhooks/delivery/sender.ts'
import { DELIVERIES, type KeptDelivery, QUEUE } from '../../../src/features/webhooks/kept.ts'
import { createMail } from '../../../src/features/webhooks/mail.ts'
import { resolveWebhooks, type WebhooksOptions } from '../../../src/features/webhooks/options.ts'
import { webhookTransactions } from '../../../src/features/webhooks/transactions.ts'
import { bound } from '../../../src/stores/bound.ts'
import { MAX_DEATHS } from '../../../src/stores/deaths.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store } from '../../../src/stores/store.ts'
import { eventually } from '../../eventually.ts'

const ID = 'delivery'

/** A delivery in a store, with what becomes of the processes to which it is given. */
function delivering(options: WebhooksOptions = {}) {
  const inner = memoryStore() as unknown as Store
  const costs = { commits: 0, rows: 0 }
  const store: Store = {
    ...inner,
    write: work =>
      inner.write(tx => {
        const before = costs.rows
        const count = () => void costs.rows++
        const counted = bound(tx)
        const result = work({
          ...counted,
          put: (...args) => {
            count()
            counted.put(...args)
          },
          delete: (...args) => {
            count()
            counted.delete(...args)
          },
        })
        if (costs.rows > before) costs.commits++
        return result
      }),
  }
  const secret = `whsec_${btoa('a secret of 32 bytes for tests..')}`
  const subscriptions = [{ id: 'crm', url: 'https://crm.example', secret }]
  const settings = resolveWebhooks({ subscriptions, ...options })
  let now = Date.now()
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  const { test, replay } = webhookTransactions(settings).writes
  const givenUp: string[] = []
  let sent = 0
  /** A process. Without an answer it dies while it sends. */
  const enter = (answer?: DeliveryResult) => {
    const work: Promise<void>[] = []
    const deliverer = new Deliverer({
      store,
      settings,
      mail: createMail(settings, async () => undefined),
      sender: {
        check: async () => {},
        send: () => {
          sent++
          return answer === undefined ? new Promise(() => {}) : Promise.resolve(answer)
        },
      },
      keepAlive: each => void work.push(each),
      schedule: () => {},
      onGivenUp: (_, why) => givenUp.push(why),
    })
    deliverer.sweep()
    return deliverer
  }
  const delivery = async () =>
    (await store.read(tx => tx.get<KeptDelivery>(DELIVERIES, ID)?.value)) as KeptDelivery
  return {
    givenUp,
    enter,
    delivery,
    sent: () => sent,
    costs,
    add: () => inner.write(tx => test(tx, 'crm', undefined, ID)),
    replay: () => inner.write(tx => replay(tx, 'crm', undefined, ID)),
    /** A process dies while it sends. Gives the milliseconds until the next one may send. */
    async die() {
      const before = sent
      enter()
      await eventually(() => expect(sent).toBe(before + 1))
      const waited = ((await store.read(tx => nextDueIn(tx, QUEUE))) ?? now) - now
      // Nobody has it before that.
      enter()
      now += waited
      return waited
    },
  }
}

it('is given up after a few processes that died while they sent it, and says so', async () => {
  const { add, die, enter, delivery, sent, givenUp, replay } = delivering()
  await add()
  const waits: number[] = []
  for (let death = 0; death < MAX_DEATHS; death++) waits.push(await die())
  expect(waits).toEqual(waits.toSorted((one, other) => one - other))
  expect(await delivery()).toMatchObject({ status: 'pending' })
  enter({ how: 'taken' })
  await eventually(async () => expect((await delivery()).status).toBe('failed'))
  const why = `the service stopped while it sent it, ${MAX_DEATHS} times in a row`
  expect(await delivery()).toMatchObject({ tries: MAX_DEATHS, error: why, code: 'interrupted' })
  expect(givenUp).toEqual([why])
  expect(sent()).toBe(MAX_DEATHS)
  // Somebody may send it again.
  await replay()
  expect(await delivery()).not.toHaveProperty('code')
  enter({ how: 'taken', status: 200 })
  await eventually(async () => expect((await delivery()).status).toBe('delivered'))
})

it('counts each death as a try, and begins anew with an answer', async () => {
  const { add, die, enter, delivery, sent, givenUp } = delivering({ maxTries: 3 })
  await add()
  await die()
  enter({ how: 'failed', why: 'it answered 500' })
  await eventually(async () => expect(await delivery()).toMatchObject({ status: 'pending', tries: 2 }))
  const { nextTryAt = 0 } = await delivery()
  vi.mocked(Date.now).mockReturnValue(nextTryAt)
  enter()
  await eventually(() => expect(sent()).toBe(3))
  const later = nextTryAt + 3_600_000
  vi.mocked(Date.now).mockReturnValue(later)
  enter({ how: 'taken' })
  await eventually(async () => expect(await delivery()).toMatchObject({ status: 'failed', tries: 3 }))
  expect(givenUp).toEqual(['the service stopped while it sent it'])
})

it('is no death that a process closes', async () => {
  const { add, enter, delivery, sent } = delivering()
  await add()
  for (let deploy = 0; deploy < 2 * MAX_DEATHS; deploy++) {
    const before = sent()
    const deliverer = enter()
    await eventually(() => expect(sent()).toBe(before + 1))
    await deliverer.close()
    vi.mocked(Date.now).mockReturnValue(Date.now() + 3_600_000)
  }
  enter({ how: 'taken' })
  await eventually(async () => expect(await delivery()).toMatchObject({ status: 'delivered', tries: 1 }))
})

it('costs no commit and no row more than without that', async () => {
  const { add, enter, delivery, costs } = delivering()
  await add()
  enter({ how: 'taken' })
  await eventually(async () => expect((await delivery()).status).toBe('delivered'))
  // Its claim, that it is being sent, and what came of it: the entry twice and gone, and the delivery.
  expect(costs).toEqual({ commits: 3, rows: 5 })
})
