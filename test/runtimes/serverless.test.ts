/**
 * Next.js as functions: two processes of one build, which share a database and nothing else. They do not listen to each other, and no
 * server says when one begins or ends.
 *
 * @module-tag long
 */
import process from 'node:process'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import type { BudgetState } from '../../src/features/budgets/plugin.ts'
import { postgresDriver } from '../../src/stores/postgres/driver.ts'
import { issue, revoke, run as runWith, short } from '../contracts/keys/client.ts'
import {
  accept,
  as,
  ask,
  cancel,
  type Deployment,
  follow,
  get,
  own,
  post,
  type Server,
} from '../contracts/runs/client.ts'
import { delivered, subscribed } from '../contracts/webhooks/client.ts'
import { startReceiver } from '../contracts/webhooks/receiver.ts'
import { eventually } from '../eventually.ts'
import { needing } from '../needing.ts'
import { ELSEWHERE } from '../tags.ts'
import { expectInterrupted, following } from './neighbours.ts'
import { MAX_CONNECTIONS, MAX_RUNNING, MAX_TOKENS } from './next/node/limits.ts'
import { type NextApps, nextApps } from './next-apps.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

const { describe, it } = needing('postgresql')

let apps: NextApps
let database: PostgresServer
let hadTables: unknown
let one: Deployment
let two: Deployment
const [first, second]: [Server, Server] = [() => one, () => two]

const begin = () => apps.start('node', { ENTRY: 'functions', DATABASE: database.url })

/** What the database says. */
async function query(sql: string): Promise<unknown> {
  const driver = postgresDriver(database.url, { max: 1, prepare: false, ssl: undefined })
  const [row] = await driver.query(sql, [])
  await driver.end()
  return row?.is
}

beforeAll(async () => {
  ;[database, apps] = await Promise.all([startPostgres(), nextApps()])
  ;[one, two] = await Promise.all([begin(), begin()])
  hadTables = await query("SELECT to_regnamespace('servable') IS NOT NULL AS is")
}, 1_200_000)
afterAll(async () => {
  await Promise.all([one?.stop(), two?.stop()])
  await database?.stop()
})

/** One more process, of this test alone. */
async function another(): Promise<Deployment> {
  const app = await begin()
  onTestFinished(() => app.stop())
  return app
}

/** Asks `next start` to end, as a platform does. */
function tellToEnd({ pid }: Deployment): void {
  process.kill(pid, 'SIGTERM')
}

const textOf = (messages: Awaited<ReturnType<typeof follow>>) =>
  messages.map(({ event }) => (event.type === 'text' ? event.text : '')).join('')

describe('two Next.js processes over PostgreSQL', ELSEWHERE, () => {
  describe('stored runs', () => {
    it('are followed and cancelled in the other process', async () => {
      const ann = as(own('ann'))
      const counted = await accept(first, 'agents/counts', { input: '40' }, ann)
      const [here, there] = await Promise.all([
        follow(first, counted.id, ann),
        follow(second, counted.id, ann),
      ])
      expect(textOf(there)).toBe(textOf(here))
      expect(textOf(there)).toMatch(/^1 2 3 .* 40 $/)
      const { id } = await accept(first, 'agents/waits', { input: 'x' }, ann)
      const followed = await following(second, id, ann)
      expect(await cancel(second, id, ann)).toMatchObject({ status: 200 })
      expect((await followed.all).at(-1)?.event).toMatchObject({ type: 'finish', finishReason: 'cancelled' })
      await eventually(async () => expect(await get(first, id, ann)).toMatchObject({ status: 'cancelled' }))
    })

    it('that wait are answered in the other process, and run once for an idempotency key', async () => {
      const ann = as(own('ann'))
      const keyed = { ...ann, 'idempotency-key': own('key') }
      const body = { input: 'x' }
      const { runId, requests } = JSON.parse((await post(first, '/api/agents/asks/run', body, keyed)).text)
      expect(JSON.parse((await post(second, '/api/agents/asks/run', body, keyed)).text)).toMatchObject({
        runId,
      })
      const answers = [{ id: requests[0].id, value: 'M' }]
      const went = await post(second, `/api/runs/${runId}/answers`, { answers }, ann)
      expect(JSON.parse(went.text)).toMatchObject({ text: 'it is M', finishReason: 'stop' })
      const others = [{ id: requests[0].id, value: 'L' }]
      const late = await post(first, `/api/runs/${runId}/answers`, { answers: others }, ann)
      expect([late.status, JSON.parse(late.text).code]).toEqual([409, 'already_answered'])
    })

    it('in the background end before their process, which has been told to end', async () => {
      const ann = as(own('ann'))
      const third = await another()
      const { id } = await accept(() => third, 'agents/outlives', { input: 'x' }, ann)
      const followed = await following(second, id, ann)
      tellToEnd(third)
      expect(textOf(await followed.all)).toBe('begun done')
      expect(await get(second, id, ann)).toMatchObject({ status: 'completed' })
    })

    it('of a process that is killed go on in another one, or are interrupted', async () => {
      const ann = as(own('ann'))
      const third = await another()
      const lost = await accept(() => third, 'agents/waits', { input: 'x' }, ann)
      const moved = await accept(() => third, 'workflows/moves', { input: 'x' }, ann)
      const [ended, gone] = [await following(second, lost.id, ann), follow(second, moved.id, ann)]
      const events = `/api/runs/${moved.id}/events`
      await eventually(async () => {
        expect((await ask(second, events, { headers: ann })).text).toContain('begun')
      })
      await third.kill()
      await expectInterrupted(ended)
      const messages = await gone
      expect(textOf(messages)).toBe('begun begun moved')
      expect(messages.map(({ event }) => event.type)).toContain('resumed')
    })
  })

  it('sessions go on in the other process', async () => {
    const ann = as(own('ann'))
    const sessionId = own('session')
    const say = async (server: Server, input: string) =>
      JSON.parse((await post(server, '/api/agents/remembers/run', { input, sessionId }, ann)).text).text
    expect(await say(first, 'one')).toBe('')
    expect(await say(second, 'two')).toBe('one')
    expect(await say(first, 'three')).toBe('one,two')
    const { text } = await ask(second, `/api/agents/remembers/sessions/${sessionId}/messages`, {
      headers: ann,
    })
    expect(JSON.parse(text).turns.map(({ input }: { input: unknown }) => input)).toEqual([
      'three',
      'two',
      'one',
    ])
  })

  it('keys that one process issues are good in the other one, until they are revoked', async () => {
    const issued = await issue(first)
    expect(short(await runWith(second, issued.key))).toBe('200')
    await revoke(first, issued)
    await eventually(async () => expect(short(await runWith(second, issued.key))).toBe('401 unauthorized'))
  })

  it('budgets are spent by both processes', async () => {
    const ann = as(own('ann'))
    const spend = (server: Server) => post(server, '/api/agents/spends/run', { input: 'x' }, ann)
    for (const server of [first, second]) expect((await spend(server)).status).toBe(200)
    for (const server of [first, second]) {
      await eventually(async () => {
        const { text } = await ask(server, '/api/budgets', { headers: ann })
        const [state] = (JSON.parse(text) as { budgets: BudgetState[] }).budgets
        expect(state).toMatchObject({ spentTokens: MAX_TOKENS, heldTokens: 0 })
      })
      const refused = await spend(server)
      expect([refused.status, JSON.parse(refused.text).code]).toEqual([429, 'budget_exceeded'])
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    }
  })

  it('the queue lets runs wait for a place in either process', async () => {
    const ann = as(own('ann'))
    const busy = [await accept(first, 'agents/waits', { input: 'x' }, ann)]
    busy.push(await accept(second, 'agents/waits', { input: 'x' }, ann))
    expect(busy.map(({ status }) => status)).toEqual(Array(MAX_RUNNING).fill('running'))
    const { id, status } = await accept(second, 'agents/says', { input: 'at last' }, ann)
    expect(status).toBe('queued')
    expect(await cancel(second, busy[0]!.id, ann)).toMatchObject({ status: 200 })
    await eventually(async () => expect(await get(first, id, ann)).toMatchObject({ status: 'completed' }))
    await cancel(first, busy[1]!.id, ann)
  })

  it('webhooks are sent once after the answer, also those of a process that is killed', async () => {
    const receiver = await startReceiver()
    onTestFinished(() => receiver.stop())
    const ann = own('ann')
    const told = (server: Server) => ({ server, receiver: () => receiver })
    const once = await subscribed(told(first), ann, '/once', { agents: ['says'] })
    const { id } = await accept(second, 'agents/says', { input: 'x' }, as(ann))
    await delivered(first, once.id, ann, { runId: id, status: 'delivered', tries: 1 })
    const third = await another()
    const late = await subscribed(told(second), ann, '/hangs', { agents: ['counts'] })
    await accept(() => third, 'agents/counts', { input: '1' }, as(ann))
    await eventually(() => expect(receiver.requests('/hangs')).not.toEqual([]))
    await third.kill()
    await delivered(second, late.id, ann, { status: 'delivered' })
    expect(receiver.payloads('/hangs', late.secret)).toHaveLength(1)
    expect(receiver.payloads('/once', once.secret)).toHaveLength(1)
  })

  it('connections are opened by requests, and are no more than the bound of each process', async () => {
    expect(hadTables).toBe(false)
    const ann = as(own('ann'))
    // A budget knows then that such a run costs nothing.
    await post(first, '/api/agents/says/run', { input: 'x' }, ann)
    // Each of another client: of one, no more than its bound may be at work.
    const runs = Array.from({ length: 20 }, () =>
      post(first, '/api/agents/says/run', { input: 'x' }, as(own('one'))),
    )
    for (const { status } of await Promise.all(runs)) expect(status).toBe(200)
    const ofServices = "application_name = 'servable' AND pid <> pg_backend_pid()"
    const open = () => query(`SELECT count(*)::int AS is FROM pg_stat_activity WHERE ${ofServices}`)
    expect(await open()).toBeGreaterThan(0)
    await eventually(async () => expect(await open()).toBeLessThanOrEqual(2 * MAX_CONNECTIONS))
  })
})
