/** What is counted: each cent once. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { jsonRequest } from '../http/client.ts'
import { accept, as, ask, own, post } from '../runs/client.ts'
import { budgetsOf, run, type Server, spender, spent } from './client.ts'
import { ADMIN, BRIEF_MS, LONG_MS } from './service.ts'

export function countingCases(server: Server): void {
  it('counts plain runs, streams, stored runs and tasks', async () => {
    const who = own('owner')
    expect((await run(server, who, 1)).status).toBe(200)
    expect((await post(server, '/api/agents/calls/stream', { input: '1' }, as(who))).text).toContain('finish')
    await accept(server, 'agents/calls', { input: '1' }, as(who))
    const message = { messageId: own('m'), role: 'ROLE_USER', parts: [{ text: '1' }] }
    const task = await fetch(
      `${server().url}/message:send`,
      jsonRequest({ message }, { ...as(who), 'a2a-version': '1.0' }),
    )
    expect(task.status, await task.text()).toBe(200)
    await spent(server, who, 4)
  })

  it('counts members of teams once, whether they tell calls or not', async () => {
    const who = own('owner')
    for (const more of [{}, { background: true }]) {
      expect((await post(server, '/api/teams/both/run', { input: '1', ...more }, as(who))).status).toBe(200)
    }
    await spent(server, who, 4)
  })

  it('counts what a run used that is cancelled', async () => {
    const who = own('owner')
    const { id } = await accept(server, 'agents/calls', { input: '2 hang' }, as(who))
    await eventually(async () => expect(await budgetsOf(server, who)).toMatchObject([{ heldUsd: 0.0305 }]))
    expect((await ask(server, `/api/runs/${id}/cancel`, { method: 'POST', headers: as(who) })).status).toBe(
      200,
    )
    await spent(server, who, 2)
  })

  it('counts what a run used whose reader has left', async () => {
    const who = own('owner')
    const leaving = new AbortController()
    const response = await fetch(`${server().url}/api/agents/calls/stream`, {
      method: 'POST',
      headers: { ...as(who), 'content-type': 'application/json' },
      body: JSON.stringify({ input: '1 hang' }),
      signal: leaving.signal,
    })
    const reader = response.body?.getReader()
    await reader?.read()
    await eventually(async () => expect(await budgetsOf(server, who)).toMatchObject([{ heldUsd: 0.0205 }]))
    leaving.abort()
    await spent(server, who, 1)
  })

  it('counts each call of a run once that waits and goes on', async () => {
    const who = own('owner')
    const { text } = await post(server, '/api/workflows/asks/run', { input: 'x' }, as(who))
    const { runId, requests } = JSON.parse(text) as { runId: string; requests: { id: string }[] }
    await spent(server, who, 1)
    const answers = [{ id: requests[0]?.id, value: 'M' }]
    for (let time = 0; time < 2; time++) {
      const answer = await post(server, `/api/runs/${runId}/answers`, { answers }, as(who))
      expect(answer.status, answer.text).toBe(200)
      await spent(server, who, 2)
    }
  })

  it('shows callers their own, and administrators all', async () => {
    const who = await spender(server)
    const [state, ...others] = await budgetsOf(server, who)
    expect(others).toEqual([])
    expect(state).toMatchObject({ name: 'owner', windowMs: LONG_MS, maxCostUsd: 0.05, remainingUsd: 0 })
    expect(state).not.toHaveProperty('key')
    for (const headers of [as(who), { authorization: 'Bearer wrong' }]) {
      expect((await ask(server, '/api/budgets/all', { headers })).status).toBe(401)
    }
    const headers = { authorization: `Bearer ${ADMIN}` }
    const found: object[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor && `&cursor=${cursor}`
      const { status, text } = await ask(server, `/api/budgets/all?limit=2${query}`, { headers })
      expect(status, text).toBe(200)
      const page = JSON.parse(text) as { budgets: { key: string }[]; nextCursor: string | null }
      expect(page.budgets.length).toBeLessThanOrEqual(2)
      found.push(...page.budgets.filter(({ key }) => key === `owner:${who}`))
      cursor = page.nextCursor
    }
    expect(found).toMatchObject([{ name: 'owner', spentUsd: 0.05, remainingUsd: 0 }])
  })
}

/** Of a service with a window of a few seconds. */
export function windowCases(server: Server): void {
  it('begins anew with each window', async () => {
    const who = own('owner')
    const refused = await eventually(async () => {
      const answer = await run(server, who, 5)
      expect(answer.status).toBe(429)
      return JSON.parse(answer.text) as { resetAt: string }
    })
    const again = await eventually(async () => {
      const answer = await run(server, who, 1)
      expect(answer.status).toBe(200)
      return answer
    })
    expect(again.status).toBe(200)
    const [state] = await budgetsOf(server, who)
    expect(Date.parse(state?.resetAt ?? '')).toBeGreaterThan(Date.parse(refused.resetAt))
    expect(Date.parse(state?.startsAt ?? '') % BRIEF_MS).toBe(0)
  })
}

/** Of a service with one budget of 50 cents for all. */
export function crowdCases(server: Server): void {
  it('lets 50 of 100 runs at once spend what 50 cost, whatever they are', async () => {
    const ways = [{}, { background: true }]
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, at) => run(server, own('owner'), 1, ways[at % 2])),
    )
    const started = answers.filter(({ status }) => status === 200)
    expect(started.length).toBe(50)
    expect(answers.filter(({ status }) => status === 429).length).toBe(50)
    await spent(server, 'anyone', 50)
  })
}

/** Of a service with several budgets. */
export function severalCases(server: Server): void {
  describe('several budgets', () => {
    it('count a run in each, and it starts in all of them or in none', async () => {
      const team = own('team')
      const [ann, bob] = [`${own('ann')} of ${team}`, `${own('bob')} of ${team}`]
      expect((await run(server, ann, 1)).status).toBe(200)
      expect((await run(server, bob, 1)).status).toBe(200)
      await spent(server, ann, 1)
      await eventually(async () => {
        const states = await budgetsOf(server, ann, '?agent=calls')
        expect(states).toMatchObject([
          { name: 'day', spentUsd: 0.01 },
          { name: 'agent', maxTokens: 1e6, heldTokens: 0 },
          { name: 'team', spentUsd: 0.02, heldUsd: 0 },
        ])
      })
      const refused = await run(server, ann, 1)
      expect(refused.status, refused.text).toBe(429)
      expect(JSON.parse(refused.text)).toMatchObject({ budget: 'team', remainingUsd: 0 })
      // What was held in the first one is given back.
      await spent(server, ann, 1)
      expect((await run(server, own('carl'), 1)).status).toBe(200)
    })

    it('are asked for by what is run', async () => {
      expect((await budgetsOf(server, own('dora'))).map(({ name }) => name)).toEqual(['day'])
      const { status } = await ask(server, '/api/budgets?agent=nobody', { headers: as('dora') })
      expect(status).toBe(404)
    })
  })
}
