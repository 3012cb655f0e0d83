/** What operations cost on Workers: the rows that Durable Objects write are what a deployment pays. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonRequest } from '../contracts/http/client.ts'
import { as, own, uuid } from '../contracts/runs/client.ts'
import { startReceiver } from '../contracts/webhooks/receiver.ts'
import { eventually } from '../eventually.ts'
import { messageOf, V1 } from '../protocols/a2a/requests.ts'
import type { Ledger } from './entries/metered.ts'
import { type Runtime, startWorkerd } from './harness.ts'

const ENTRY = 'test/runtimes/entries/rows-workerd.ts'

type Fields = Readonly<Record<string, string>>

const post = (url: string, body: unknown, headers: Fields = {}): Promise<Response> =>
  fetch(url, jsonRequest(body, headers))

const look = async (url: string): Promise<Ledger> => (await fetch(`${url}/ledger`)).json() as Promise<Ledger>
const take = async (url: string): Promise<Ledger> =>
  (await fetch(`${url}/ledger`, { method: 'POST' })).json() as Promise<Ledger>

/** What was spent once the last thing that a run's object does is done: its alarm is set to its time to go. */
async function spent(url: string, told: string, times = 1): Promise<Ledger> {
  await eventually(async () => {
    const { calls, last } = await look(url)
    expect(calls[told] ?? 0).toBeGreaterThanOrEqual(times)
    expect(last).toBe('ServableRun: setAlarm')
  })
  const ledger = await take(url)
  // Where it went: for whoever reads the test's log.
  if (process.env.SHOW_ROWS) console.log(expect.getState().currentTestName, JSON.stringify(ledger, null, 1))
  return ledger
}

/** Follows a run to its end, and gives the number of its pieces. */
async function followed(url: string, agent: string, headers: Fields): Promise<number> {
  const path = `${url}/api/agents/${agent}/stream`
  const response = await post(path, { input: 'x', background: true }, headers)
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return text.match(/piece \d+ /g)?.length ?? 0
}

describe('rows that are written', () => {
  let server: Runtime | undefined
  const url = () => server?.url ?? ''
  beforeAll(async () => {
    server = await startWorkerd(ENTRY)
  })
  afterAll(() => server?.stop())

  /** An owner whose index is there. */
  async function knownOwner(): Promise<Fields> {
    const owner = as(own('owner'))
    await followed(url(), 'burst', owner)
    await spent(url(), 'ServableIndex.core:run.update')
    return owner
  }

  it('are 13 at the most for a stored run of 50 pieces, and 10 are read, in 15 statements', async () => {
    const owner = await knownOwner()
    // The list of the owner grows with each of them.
    for (let run = 0; run < 5; run++) {
      expect(await followed(url(), 'burst', owner)).toBe(50)
      const { rows, readRows, ran, calls } = await spent(url(), 'ServableIndex.core:run.update')
      expect(rows).toBeLessThanOrEqual(13)
      expect(readRows).toBeLessThanOrEqual(10)
      expect(ran).toBeLessThanOrEqual(15)
      expect(calls).toEqual({
        'ServableRun.core:run.start': 1,
        'ServableRun.core:run.follow': 1,
        'ServableIndex.core:run.admit': 1,
        'ServableIndex.core:run.update': 1,
      })
    }
  })

  it('are 20 at the most for the first run of an owner too', async () => {
    await followed(url(), 'burst', as(own('owner')))
    expect((await spent(url(), 'ServableIndex.core:run.update')).rows).toBeLessThanOrEqual(20)
  })

  it('are 21 at the most for a kept response of OpenAI, and none for one that is not kept', async () => {
    const owner = await knownOwner()
    const respond = async (more: object) => {
      const answer = await post(`${url()}/v1/responses`, { model: 'burst', input: 'x', ...more }, owner)
      expect(answer.status).toBe(200)
      return (await answer.json()) as { readonly id: string }
    }
    await respond({ store: false })
    expect((await look(url())).rows).toBe(0)
    const { id } = await respond({})
    expect((await spent(url(), 'ServableIndex.core:run.update')).rows).toBeLessThanOrEqual(21)
    await respond({ previous_response_id: id })
    expect((await spent(url(), 'ServableIndex.core:run.update')).rows).toBeLessThanOrEqual(21)
  })

  it('are 28 at the most with an idempotency key', async () => {
    const owner = await knownOwner()
    await followed(url(), 'burst', { ...owner, 'idempotency-key': crypto.randomUUID() })
    expect((await spent(url(), 'ServableIndex.core:run.update')).rows).toBeLessThanOrEqual(28)
  })

  it('are 4 more at the most for the turn of a session, and 7 for the first one', async () => {
    const owner = await knownOwner()
    const sessionId = own('session')
    for (const isFirst of [true, false]) {
      const path = `${url()}/api/agents/burst/stream`
      await (await post(path, { input: 'x', background: true, sessionId }, owner)).text()
      const { rows, calls } = await spent(url(), 'ServableIndex.core:run.update')
      expect(rows).toBeLessThanOrEqual(13 + (isFirst ? 7 : 4))
      expect(calls).toMatchObject({
        'ServableIndex.core:session.enter': 1,
        'ServableIndex.core:session.leave': 1,
      })
    }
  })

  it('are one a piece at the most, and those of a run, where pieces come one by one', async () => {
    const owner = await knownOwner()
    expect(await followed(url(), 'paced', owner)).toBe(50)
    const { rows } = await spent(url(), 'ServableIndex.core:run.update')
    expect(rows).toBeLessThanOrEqual(50 + 20)
  })

  it('are 2 a journalled step at the most, and one for what the run was asked with', async () => {
    const owner = await knownOwner()
    const spentBy = async (name: string) => {
      const path = `${url()}/api/workflows/${name}/run`
      const response = await post(path, { input: 'x', background: true }, owner)
      expect(response.status, await response.text()).toBe(200)
      return spent(url(), 'ServableIndex.core:run.update')
    }
    // A run that is held up writes what it gathers in more pieces.
    const more: number[] = []
    for (let tries = 0; tries < 3; tries++) {
      const plain = await spentBy('plain')
      const journalled = await spentBy('journalled')
      more.push(journalled.rows - plain.rows)
      // What a step needs to know was written by the object itself.
      expect(journalled.readRows).toBeLessThanOrEqual(10)
    }
    expect(Math.min(...more)).toBeLessThanOrEqual(10 * 2 + 1)
  })

  it('are 25 at the most for an A2A message', async () => {
    const owner = await knownOwner()
    const message = messageOf(V1, { messageId: crypto.randomUUID() })
    const headers = { ...owner, 'a2a-version': '1.0' }
    const response = await post(`${url()}/message:send`, { message }, headers)
    const { task } = (await response.json()) as { task: { id: string } }
    expect(task.id).toMatch(uuid)
    const { rows, calls } = await spent(url(), 'ServableIndex.a2a.update', 2)
    expect(rows).toBeLessThanOrEqual(25)
    expect(calls['ServableIndex.a2a.update']).toBe(2)
  })
})

describe('rows of sessions that are listed', () => {
  it('are one more a turn, and 3 for the first one', async () => {
    const server = await startWorkerd(ENTRY, { env: { PART: 'sessions' } })
    try {
      const owner = as(own('owner'))
      await followed(server.url, 'burst', owner)
      await spent(server.url, 'ServableIndex.core:run.update')
      const sessionId = own('session')
      for (const count of [1, 2, 3]) {
        const told = count === 1 ? 2 : 1
        const path = `${server.url}/api/agents/burst/stream`
        await (await post(path, { input: 'x', background: true, sessionId }, owner)).text()
        await eventually(async () => {
          const { calls, statements } = await look(server.url)
          expect(calls).toMatchObject({ 'ServableIndex.sessions.told': told })
          expect(statements).toMatchObject({ 'ServableRun: setAlarm': 2 })
        })
        const page = await (await fetch(`${server.url}/api/sessions`, { headers: owner })).json()
        const lastMessage = expect.stringMatching(/^piece 1 /)
        expect(page).toMatchObject({ sessions: [{ id: sessionId, count, lastMessage }] })
        expect((await take(server.url)).rows).toBeLessThanOrEqual(13 + (count === 1 ? 7 + 3 : 4 + 1))
      }
    } finally {
      await server.stop()
    }
  })
})

describe('rows that metrics write', () => {
  it('are one a plain run at the most, on average', async () => {
    const server = await startWorkerd(ENTRY, { env: { PART: 'metrics' } })
    const runs = 20
    for (let run = 0; run < runs; run++) {
      expect((await post(`${server.url}/api/agents/burst/run`, { input: 'x' })).status).toBe(200)
      // So slow that a batch for each of them would be too much.
      await new Promise(resolve => setTimeout(resolve, 120))
    }
    // Whoever scrapes has what was counted handed over.
    const { global } = (await (await fetch(`${server.url}/api/metrics/json`)).json()) as {
      global: { runs: number }
    }
    expect(global.runs).toBe(runs)
    const { rows } = await take(server.url)
    expect(rows).toBeGreaterThan(0)
    expect(rows / runs).toBeLessThanOrEqual(1)
    await server.stop()
  })
})

describe('rows of a budget', () => {
  let server: Runtime | undefined
  const url = () => server?.url ?? ''
  beforeAll(async () => {
    server = await startWorkerd(ENTRY, { env: { PART: 'budgets' } })
  })
  afterAll(() => server?.stop())

  /** What a run cost the object of its budget, once it is settled. */
  async function ofRun(owner: Fields, body: object): Promise<Ledger> {
    await take(url())
    const response = await post(`${url()}/api/agents/burst/run`, { input: 'x', ...body }, owner)
    expect(response.status, await response.text()).toBe(200)
    await eventually(async () => {
      const { calls } = await look(url())
      expect(calls['ServableIndex.budgets.settle']).toBe(1)
    })
    return take(url())
  }

  it('are 2 a run: one where it starts, and one where it ends', async () => {
    const owner = as(own('owner'))
    await ofRun(owner, {})
    const { rows, calls } = await ofRun(owner, {})
    expect(calls).toEqual({ 'ServableIndex.budgets.hold': 1, 'ServableIndex.budgets.settle': 1 })
    expect(rows).toBeLessThanOrEqual(2)
  })

  it('are as many for a stored run', async () => {
    const owner = as(own('owner'))
    await ofRun(owner, {})
    const { calls } = await ofRun(owner, { background: true })
    expect(calls).toMatchObject({ 'ServableIndex.budgets.hold': 1, 'ServableIndex.budgets.settle': 1 })
  })
})

describe('rows of a webhook', () => {
  it('are 11 more a stored run at the most: noted, and delivered', async () => {
    const receiver = await startReceiver()
    const server = await startWorkerd(ENTRY, {
      env: { PART: 'webhooks', RECEIVER: `${receiver.url}/hook` },
    })
    try {
      const owner = as(own('owner'))
      // The first delivery makes the tables.
      for (const count of [1, 2]) {
        await take(server.url)
        await followed(server.url, 'burst', owner)
        await eventually(async () => {
          expect(receiver.requests('/hook')).toHaveLength(count)
          const { statements } = await look(server.url)
          // The delivery has been claimed, and is settled.
          expect(statements).toMatchObject({
            'ServableRun: setAlarm': 2,
            'ServableIndex: DELETE FROM object_documents WHERE collection =': 1,
          })
        })
      }
      const { rows, calls } = await take(server.url)
      expect(calls).toMatchObject({ 'ServableIndex.webhooks.enqueue': 1 })
      expect(rows).toBeLessThanOrEqual(13 + 11)
    } finally {
      await server.stop()
      await receiver.stop()
    }
  })
})

describe('rows of the queue', () => {
  let server: Runtime | undefined
  const url = () => server?.url ?? ''
  beforeAll(async () => {
    server = await startWorkerd(ENTRY, { env: { PART: 'queue' } })
  })
  afterAll(() => server?.stop())

  const start = async (agent: string, owner: Fields): Promise<string> => {
    const headers = { ...owner, prefer: 'respond-async' }
    const response = await post(`${url()}/api/agents/${agent}/run`, { input: 'x' }, headers)
    expect(response.status).toBe(202)
    return ((await response.json()) as { status: string }).status
  }

  it('are none while no run waits', async () => {
    const owner = as(own('owner'))
    await start('burst', owner)
    await spent(url(), 'ServableIndex.core:run.update')
    await start('burst', owner)
    const { rows, rowsOf } = await spent(url(), 'ServableIndex.core:run.update')
    expect(rows).toBeLessThanOrEqual(13)
    expect(rowsOf).toEqual({ ServableRun: 11, ServableIndex: 2 })
  })

  it('are 24 more at the most for a run that waits, and then starts', async () => {
    const owner = as(own('owner'))
    await start('held', owner)
    expect(await start('burst', owner)).toBe('queued')
    await post(`${url()}/release`, {})
    await eventually(async () => {
      const { calls, statements } = await look(url())
      expect(calls).toMatchObject({ 'ServableIndex.core:run.update': 2, 'ServableIndex.queue.done': 1 })
      expect(statements).toMatchObject({ 'ServableRun: setAlarm': 4 })
    })
    // The first run of the owner, and the one that waited.
    const { rows } = await take(url())
    expect(rows).toBeLessThanOrEqual(15 + 13 + 24)
  })
})

describe('rows of a list of all owners', () => {
  it('are 2 more for a run, as many as the owner’s list has', async () => {
    const server = await startWorkerd(ENTRY, { env: { PART: 'lists' } })
    try {
      const owner = as(own('owner'))
      for (let run = 0; run < 3; run++) {
        await followed(server.url, 'burst', owner)
        const { rows, calls } = await spent(server.url, 'ServableIndex.core:run.update', 3)
        // The first run makes the tables of both lists.
        expect(rows).toBeLessThanOrEqual(run === 0 ? 22 : 15)
        expect(calls).toMatchObject({ 'ServableIndex.core:run.admit': 1, 'ServableIndex.core:run.update': 3 })
      }
    } finally {
      await server.stop()
    }
  })
})
