/** Deliveries of which processes die, and clocks that differ. */
import { expect, it, onTestFinished, vi } from 'vitest'
import { deferred } from '../../../src/base/wake.ts'
import { MAX_DEATHS } from '../../../src/stores/deaths.ts'
import { eventually } from '../../eventually.ts'
import { delivering } from './kit.ts'

const HOUR = 3_600_000

/** A clock that goes when it is told to. */
function stopped() {
  let now = Date.now()
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now)
  onTestFinished(() => clock.mockRestore())
  return (ms: number) => {
    now += ms
  }
}

it('is given up after a few processes that died while they sent it, and says so', async () => {
  const pass = stopped()
  const { enter, receiver, logged } = await delivering({ timeoutMs: 15_000, retryMs: 60_000 })
  receiver.way = 'hold'
  let last = await enter()
  const id = await last.test()
  for (let death = 1; death <= MAX_DEATHS; death++) {
    await eventually(() => expect(receiver.got).toHaveLength(death))
    expect(await last.deliveries()).toMatchObject([{ status: 'pending' }])
    last.die()
    // A claim lasts twice as long as a receiver may take. Then each one waits about twice as long as the one before.
    const delay = 60_000 * 2 ** (death - 1)
    const least = 30_000 + 0.75 * delay - 1
    pass(least)
    await enter()
    pass(30_000 + 1.25 * delay - least)
    if (death === MAX_DEATHS) receiver.way = 'take'
    last = await enter()
  }
  const error = `the service stopped while it sent it, ${MAX_DEATHS} times in a row`
  const failed = { id, status: 'failed', tries: MAX_DEATHS, error, code: 'interrupted' }
  await eventually(async () => expect(await last.deliveries()).toMatchObject([failed]))
  const message = `A delivery is given up: ${error}`
  expect(logged.filter(({ event }) => event === 'webhook.given_up')).toMatchObject([{ message }])
  expect(receiver.got).toHaveLength(MAX_DEATHS)
  // Somebody may send it again.
  const replay = await last.ask(`admin/webhooks/crm/deliveries/${id}/replay`, { method: 'POST' })
  expect(await replay.json()).not.toHaveProperty('code')
  await eventually(async () => expect(await last.deliveries()).toMatchObject([{ status: 'delivered' }]))
})

it('counts each death as a try, and begins anew with an answer', async () => {
  const pass = stopped()
  const { enter, receiver, logged } = await delivering({ maxTries: 3 })
  receiver.way = 'hold'
  const first = await enter()
  await first.test()
  await eventually(() => expect(receiver.got).toHaveLength(1))
  first.die()
  pass(HOUR)
  receiver.way = 'fail'
  const second = await enter()
  await eventually(async () =>
    expect(await second.deliveries()).toMatchObject([{ status: 'pending', tries: 2, responseStatus: 500 }]),
  )
  second.die()
  pass(HOUR)
  receiver.way = 'hold'
  const third = await enter()
  await eventually(() => expect(receiver.got).toHaveLength(3))
  third.die()
  pass(HOUR)
  receiver.way = 'take'
  const { deliveries } = await enter()
  await eventually(async () => expect(await deliveries()).toMatchObject([{ status: 'failed', tries: 3 }]))
  expect(logged.filter(({ event }) => event === 'webhook.given_up')).toMatchObject([
    { message: 'A delivery is given up: the service stopped while it sent it' },
  ])
})

it('is no death that a process closes', async () => {
  const pass = stopped()
  const { enter, receiver } = await delivering()
  receiver.way = 'hold'
  for (let deploy = 0; deploy < 2 * MAX_DEATHS; deploy++) {
    const { test, close } = await enter()
    if (deploy === 0) await test()
    await eventually(() => expect(receiver.got).toHaveLength(deploy + 1))
    await close()
    pass(HOUR)
  }
  receiver.way = 'take'
  const { deliveries } = await enter()
  await eventually(async () => expect(await deliveries()).toMatchObject([{ status: 'delivered', tries: 1 }]))
})

it('is left to another process whose clock is a little ahead', async () => {
  const pass = stopped()
  // A claim lasts longer than any wait for the next try.
  const { enter, receiver } = await delivering({ timeoutMs: 15_000, retryMs: 1000, maxRetryMs: 1000 })
  receiver.way = 'hold'
  const ahead = await enter()
  pass(50)
  const first = await ahead.test()
  await eventually(() => expect(receiver.got).toEqual([first]))
  pass(-50)
  const behind = await enter()
  const second = await behind.test()
  await eventually(() => expect(receiver.got).toContain(second))
  expect(receiver.got).toEqual([first, second])
})

it('is left to the process that has claimed it, however late the store answers', async () => {
  const pass = stopped()
  const { enter, receiver } = await delivering()
  receiver.way = 'fail'
  const first = await enter()
  const id = await first.test()
  await eventually(async () => expect(await first.deliveries()).toMatchObject([{ tries: 1 }]))
  first.die()
  pass(HOUR)
  receiver.way = 'take'
  const { promise, resolve } = deferred<void>()
  await enter({}, { isBroken: false, answers: promise })
  const other = await (await enter()).test()
  await eventually(() => expect(receiver.got).toContain(other))
  expect(receiver.got).toEqual([id, other])
  resolve()
  await eventually(() => expect(receiver.got).toEqual([id, other, id]))
})

it('waits for its next try, but not for a clock that has been set back to catch up', async () => {
  const pass = stopped()
  const { enter, receiver } = await delivering()
  receiver.way = 'fail'
  const { test, deliveries } = await enter()
  const id = await test()
  await eventually(async () => expect(await deliveries()).toMatchObject([{ tries: 1, responseStatus: 500 }]))
  receiver.way = 'hold'
  for (const back of [0, HOUR]) {
    pass(-back)
    await enter()
  }
  expect(receiver.got).toEqual([id])
  // Longer than any wait.
  pass(-24 * HOUR)
  await enter()
  await eventually(() => expect(receiver.got).toEqual([id, id]))
  const other = await (await enter()).test()
  await eventually(() => expect(receiver.got).toContain(other))
  expect(receiver.got).toEqual([id, id, other])
})

it('costs no commit and no row more than without that', async () => {
  const { enter, costs } = await delivering()
  const { test, deliveries } = await enter()
  await test()
  await eventually(async () => expect(await deliveries()).toMatchObject([{ status: 'delivered' }]))
  // The delivery and its entry. Its claim, that it is being sent, and what came of it: the entry twice and gone, and the delivery.
  expect(costs).toMatchObject({ commits: 1 + 3, rows: 2 + 5 })
})
