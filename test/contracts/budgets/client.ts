/** Asks the service of the contract of budgets. */
import { expect } from 'vitest'
import type { BudgetState } from '../../../src/features/budgets/plugin.ts'
import { eventually } from '../../eventually.ts'
import { as, ask, own, post, type Server } from '../runs/client.ts'

export type { Server }

/** Runs the agent, which calls its model so many times. */
export function run(server: Server, who: string, times: number | string, more: object = {}, headers = {}) {
  return post(server, '/api/agents/calls/run', { input: String(times), ...more }, { ...as(who), ...headers })
}

/** The budgets of somebody. */
export async function budgetsOf(server: Server, who: string, query = ''): Promise<readonly BudgetState[]> {
  const { status, text } = await ask(server, `/api/budgets${query}`, { headers: as(who) })
  expect(status, text).toBe(200)
  return (JSON.parse(text) as { budgets: BudgetState[] }).budgets
}

/** Waits until nothing is held for somebody any more, and so much is spent. */
export function spent(server: Server, who: string, cents: number, query = ''): Promise<void> {
  return eventually(async () => {
    const [state] = await budgetsOf(server, who, query)
    expect(state).toMatchObject({ spentUsd: cents / 100, heldUsd: 0 })
  })
}

/** Somebody who has spent all. */
export async function spender(server: Server): Promise<string> {
  const who = own('spender')
  expect((await run(server, who, 5)).status).toBe(200)
  await spent(server, who, 5)
  return who
}
