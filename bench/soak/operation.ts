/** What operators need: keys for callers, budgets and guards. */

import {
  ADMIN_TOKEN,
  FORBIDDEN,
  KEY_CACHE_MS,
  MASK,
  MASKED,
  MAX_SPENT,
  type Order,
  SPENDER,
  textOfOrder,
  writeOrder,
} from './orders.ts'
import {
  type Act,
  anyEnd,
  expect,
  expectResult,
  expectState,
  Listener,
  orderOf,
  PATIENCE_MS,
  post,
  sleep,
} from './traffic.ts'

/** Milliseconds between two acts that leave something behind for good: an owner's budget, or a key. */
const REST_MS = 2000

/** The JSON of an answer with a status that is right. */
async function answered(response: Response, status: number, what: string) {
  const text = await response.text()
  expectState(text)
  expect(response.status === status, what, () => `${response.status} ${text.slice(0, 500)}`)
  return text === '' ? {} : JSON.parse(text)
}

/** A key runs its agent and no other one, and is refused once it is rotated or revoked. */
export const key: Act = async (url, ledger) => {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const asking = { owner: 'keyed', name: 'soak', scopes: ['agent:keyed'] }
  const issued = await answered(await post(`${url}/api/keys`, asking, undefined, headers), 201, 'not a key')
  const run = async (secret: string, agent: string, order: Order) =>
    post(`${url}/api/agents/${agent}/run`, { input: writeOrder(order) }, undefined, {
      authorization: `Bearer ${secret}`,
    })
  const used = async (secret: string) => {
    const order = orderOf(anyEnd(), 5)
    await expectResult(await run(secret, 'keyed', order), order)
    ledger.note('keyed', order)
  }
  const refused = async (secret: string) => {
    await sleep(KEY_CACHE_MS + 500)
    await answered(
      await run(secret, 'keyed', orderOf('answer')),
      401,
      'a key that is good no more was let in',
    )
  }
  await used(issued.key)
  await answered(await run(issued.key, 'json', orderOf('answer')), 403, 'a key ran what it may not')
  const rotate = () => post(`${url}/api/keys/${issued.id}/rotate`, {}, undefined, headers)
  const rotated = await answered(await rotate(), 200, 'not a rotated key')
  await refused(issued.key)
  await used(rotated.key)
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const revoked = await fetch(`${url}/api/keys/${issued.id}`, { method: 'DELETE', headers, signal })
  expectState(await revoked.text())
  expect(revoked.ok, 'not a revoked key', () => `${revoked.status}`)
  await refused(rotated.key)
  await sleep(REST_MS)
}

/** The tokens of a run, and what is held for it. */
const SPENT = 30
const HELD = 20

/** An owner spends a budget with runs at the same time, and then one after the other until it is used up. */
export const spend: Act = async (url, ledger) => {
  const headers = { 'x-client': SPENDER + crypto.randomUUID() }
  let runs = 0
  const run = async () => {
    const order = orderOf('answer', SPENT - 2, 0)
    const response = await post(
      `${url}/api/agents/spends/run`,
      { input: writeOrder(order) },
      undefined,
      headers,
    )
    if (response.status === 429) {
      const { code } = await answered(response, 429, 'not a refusal')
      expect(code === 'budget_exceeded', 'not refused for a budget', () => code)
      return false
    }
    await expectResult(response, order)
    ledger.note('spends', order)
    runs++
    return true
  }
  /** What is spent once nothing is held any more. */
  const spent = async () => {
    const until = performance.now() + PATIENCE_MS
    for (;;) {
      const { budgets } = await answered(
        await fetch(`${url}/api/budgets?agent=spends`, { headers, signal: AbortSignal.timeout(PATIENCE_MS) }),
        200,
        'not the budgets',
      )
      const { spentTokens, heldTokens } = budgets.find(({ name }: { name: string }) => name === 'spenders')
      if (heldTokens === 0) return spentTokens as number
      expect(performance.now() < until, 'a budget that holds for a run that has ended', () => `${heldTokens}`)
      await sleep(100)
    }
  }
  const expectSpent = async () => {
    const told = await spent()
    expect(told === runs * SPENT, 'a budget that was lost or doubled', () => `${told} of ${runs} runs`)
  }
  await Promise.all(Array.from({ length: 4 }, run))
  await expectSpent()
  for (let isOpen = true; isOpen; ) {
    isOpen = runs * SPENT + HELD <= MAX_SPENT
    const isRun = await run()
    expect(isRun === isOpen, 'a budget that does not hold', () => `${isRun} after ${runs} runs`)
    await expectSpent()
  }
  ledger.budgets++
  await sleep(REST_MS)
}

const maskedText = (order: Order) => textOfOrder(order).replaceAll(MASKED, MASK)

/** A guard masks an answer. */
export const maskedRun: Act = async (url, ledger) => {
  const order = orderOf(anyEnd())
  const response = await post(`${url}/api/agents/guarded/run`, { input: writeOrder(order) })
  await expectResult(response, order, '', maskedText(order))
  ledger.note('guarded', order)
}

/** A guard masks a stream. */
export const maskedStream: Act = async (url, ledger) => {
  const order = orderOf(anyEnd())
  const listener = new Listener(ledger)
  const isWhole = await listener.read(
    await post(`${url}/api/agents/guarded/stream`, { input: writeOrder(order) }),
  )
  expect(isWhole, 'a stream without an end', () => listener.text)
  listener.expectEnd(order, maskedText(order))
  ledger.note('guarded', order)
}

/** A guard refuses an input, and the agent does not run. */
export const forbiddenRun: Act = async url => {
  const input = `${writeOrder(orderOf('answer'))} ${FORBIDDEN}`
  const { code } = await answered(
    await post(`${url}/api/agents/guarded/run`, { input }),
    422,
    'a forbidden input that was taken',
  )
  expect(code === 'input_refused', 'not refused by a guard', () => code)
}
