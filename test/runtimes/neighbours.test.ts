/**
 * Processes that share one SQLite file, of which some are killed in the middle of their work.
 *
 * @module-tag long
 */
import { describe, expect, it } from 'vitest'
import {
  getTask,
  isTerminal,
  list as listTasks,
  subscribe,
  TONGUES,
  atWork as taskAtWork,
} from '../contracts/a2a/client.ts'
import { plain, start } from '../contracts/gateway/client.ts'
import {
  accept,
  acceptGated,
  as,
  cancel,
  ended,
  type Fields,
  follow,
  get,
  openGate,
  own,
  post,
  type Server,
} from '../contracts/runs/client.ts'
import { eventually } from '../eventually.ts'
import { expectInterrupted, following, idsOf, RUNTIMES, street } from './neighbours.ts'

/** All that one owner may have at work. */
const PLACES = 100

const { rpc1, rest1 } = TONGUES

const codeOf = ({ text }: { text: string }) => JSON.parse(text).code

/** Starts runs that do not end, nor wait for anyone. */
function endless(server: Server, owner: Fields, count: number): Promise<string[]> {
  const one = async () => (await accept(server, 'agents/gated', { input: own('never') }, owner)).id
  return Promise.all(Array.from({ length: count }, one))
}

describe.each(RUNTIMES)('two processes over one file, of which one is killed: %s', (...runtime) => {
  it('all that it had at work ends for everyone who follows, waits and asks elsewhere', async () => {
    const { moveIn } = await street(runtime)
    const [one, two] = [await moveIn(), await moveIn()]
    const owner = as(own('owner'))
    const ids = await endless(one.server, owner, PLACES - 1)
    const body = { input: own('never') }
    const wait = (server: Server) =>
      post(server, '/api/agents/gated/run', body, { ...owner, 'idempotency-key': 'k' })
    const cutOff = wait(one.server).catch((error: Error) => error)
    await eventually(async () =>
      expect(await idsOf(two.server, 'running', owner)).toHaveProperty('size', PLACES),
    )
    const waited = wait(two.server)
    const followed = await Promise.all(ids.slice(0, 20).map(id => following(two.server, id, owner)))
    const beginNext = () =>
      post(two.server, '/api/agents/counts/run', { input: '3' }, { ...owner, prefer: 'respond-async' })
    expect(codeOf(await beginNext())).toBe('too_many_runs')

    await one.kill()
    expect(await cutOff).toBeInstanceOf(Error)
    for (const each of followed) await expectInterrupted(each)
    const answer = await waited
    expect([answer.status, codeOf(answer)]).toEqual([500, 'interrupted'])
    expect(await idsOf(two.server, 'running', owner)).toEqual(new Set())
    const failed = await idsOf(two.server, 'failed', owner)
    expect(failed.size).toBe(PLACES)
    for (const id of ids) expect(failed).toContain(id)
    const next = await beginNext()
    expect(next.status, next.text).toBe(202)
    expect(await ended(two.server, JSON.parse(next.text).id, owner)).toMatchObject({ status: 'completed' })
  })
})

describe('two processes over one file, of which one is killed', () => {
  it('its tasks fail for everyone who subscribes to them, gets them and lists them elsewhere', async () => {
    const { moveIn } = await street()
    const [one, two] = [await moveIn(), await moveIn()]
    const headers = as(own('owner'))
    const tasks = await Promise.all(
      Array.from({ length: 10 }, () => taskAtWork(one.server, rpc1, { headers })),
    )
    const streams = await Promise.all(tasks.map(({ id }) => subscribe(two.server, rest1, id, { headers })))
    for (const stream of streams) expect((await stream.next())?.task?.state).toBe('working')
    await one.kill()
    for (const stream of streams) {
      const events = await stream.rest()
      expect(events.at(-1)).toMatchObject({ kind: 'status', state: 'failed' })
      expect(events.filter(({ state }) => state !== undefined && isTerminal(state))).toHaveLength(1)
    }
    for (const { id } of tasks)
      expect((await getTask(two.server, rpc1, id, { headers })).state).toBe('failed')
    const idsIn = async (status: string) => {
      const page = await listTasks(two.server, rest1, { status }, { headers })
      return new Set(page.tasks.map(({ id }) => id))
    }
    expect(await idsIn('TASK_STATE_WORKING')).toEqual(new Set())
    expect(await idsIn('TASK_STATE_FAILED')).toEqual(new Set(tasks.map(({ id }) => id)))
  })

  it('a list alone tells of its runs, where nobody follows any', async () => {
    const { moveIn } = await street()
    const [one, two] = [await moveIn(), await moveIn()]
    const owner = as(own('owner'))
    const ids = await endless(one.server, owner, 5)
    expect(await idsOf(two.server, 'running', owner)).toEqual(new Set(ids))
    await one.kill()
    await eventually(async () => expect(await idsOf(two.server, 'failed', owner)).toEqual(new Set(ids)))
    expect(await idsOf(two.server, 'running', owner)).toEqual(new Set())
  })

  it('a run that was begun over its socket ends for those who follow it elsewhere', async () => {
    const { moveIn } = await street()
    const [one, two] = [await moveIn(), await moveIn()]
    const client = await plain(one.server, { connect: {} })
    const id = await start(client, 'agent.run', { name: 'gated', input: own('never'), background: true })
    const followed = await following(two.server, id, {})
    await one.kill()
    await expectInterrupted(followed)
  })

  it('a run of the other one goes on, with those who follow it', async () => {
    const { moveIn } = await street()
    const [one, two] = [await moveIn(), await moveIn()]
    const owner = as(own('owner'))
    const { id, gate } = await acceptGated(two.server, owner)
    const [lost] = await endless(one.server, owner, 1)
    const followed = await following(two.server, id, owner)
    await one.kill()
    await eventually(async () => expect(await idsOf(two.server, 'failed', owner)).toEqual(new Set([lost])))
    await openGate(two.server, gate)
    expect((await followed.all).map(({ event }) => event)).toEqual([
      { type: 'text', text: 'before ' },
      { type: 'text', text: 'after' },
      { type: 'finish', finishReason: 'stop' },
    ])
  })
})

describe('several processes over one file', () => {
  it('of which two are killed at once: the third one tells of all that they had at work', async () => {
    const { moveIn } = await street()
    const [one, two, three] = [await moveIn(), await moveIn(), await moveIn()]
    const owner = as(own('owner'))
    const begun = await Promise.all([endless(one.server, owner, 10), endless(two.server, owner, 10)])
    const ids = begun.flat()
    const followed = await Promise.all(ids.map(id => following(three.server, id, owner)))
    await Promise.all([one.kill(), two.kill()])
    for (const each of followed) await expectInterrupted(each)
    expect(await idsOf(three.server, 'failed', owner)).toEqual(new Set(ids))
    expect(await idsOf(three.server, 'running', owner)).toEqual(new Set())
  })

  it('of which one is killed: the other two tell the same, each event once', async () => {
    const { moveIn } = await street()
    const [one, two, three] = [await moveIn(), await moveIn(), await moveIn()]
    const owner = as(own('owner'))
    const ids = await endless(one.server, owner, 10)
    const both = [two.server, three.server]
    const followed = await Promise.all(both.flatMap(server => ids.map(id => following(server, id, owner))))
    await one.kill()
    for (const each of followed) await expectInterrupted(each)
    for (const id of ids) {
      expect(await follow(two.server, id, owner)).toEqual(await follow(three.server, id, owner))
    }
  })

  it('of which one is stopped: it is alive, and goes on where it was', async () => {
    const { moveIn } = await street()
    const [stopped, killed, third] = [await moveIn(), await moveIn(), await moveIn()]
    const owner = as(own('owner'))
    const { id, gate } = await acceptGated(stopped.server, owner)
    const [lost = ''] = await endless(killed.server, owner, 1)
    const [followed, other] = [
      await following(third.server, id, owner),
      await following(third.server, lost, owner),
    ]
    stopped.signal('SIGSTOP')
    await killed.kill()
    // By now the third one has looked for who is gone.
    await expectInterrupted(other)
    expect(await get(third.server, id, owner)).toMatchObject({ status: 'running' })
    stopped.signal('SIGCONT')
    await openGate(stopped.server, gate)
    expect((await followed.all).at(-1)?.event).toEqual({ type: 'finish', finishReason: 'stop' })
    expect(await get(third.server, id, owner)).toMatchObject({
      status: 'completed',
      result: { text: 'before after' },
    })
  })

  it('of which one is stopped: what another one cancels stays so', async () => {
    const { moveIn } = await street()
    const [stopped, other] = [await moveIn(), await moveIn()]
    const owner = as(own('owner'))
    const { id, gate } = await acceptGated(stopped.server, owner)
    const followed = await following(other.server, id, owner)
    stopped.signal('SIGSTOP')
    expect((await cancel(other.server, id, owner)).status).toBe(200)
    stopped.signal('SIGCONT')
    await openGate(stopped.server, gate)
    expect((await followed.all).at(-1)?.event).toMatchObject({ type: 'finish', finishReason: 'cancelled' })
    expect(await get(stopped.server, id, owner)).toMatchObject({ status: 'cancelled' })
  })
})
