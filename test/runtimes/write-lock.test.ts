/**
 * One process writes into a SQLite file for long: all others read, plain runs go on, and nothing is lost.
 *
 * @module-tag long
 */
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import {
  getTask,
  sendForTask,
  subscribe,
  TONGUES,
  atWork as taskAtWork,
  list as tasksOf,
} from '../contracts/a2a/client.ts'
import { type Answer, jsonRequest, run, stream } from '../contracts/http/client.ts'
import {
  accept,
  acceptGated,
  as,
  ask,
  ended,
  follow,
  get,
  list,
  openGate,
  own,
  post,
  type Server,
} from '../contracts/runs/client.ts'
import { eventually } from '../eventually.ts'
import { expectInterrupted, following, holdWriteLock, RUNTIMES, street } from './neighbours.ts'

const { rpc1, rest1 } = TONGUES

const CORRECTION = { originalValue: 'Oslo', correctedValue: 'Bergen' }

/** What stands in an answer that says to try again later. */
const refusalIn = ({ status, headers, text }: Answer) => ({
  status,
  code: JSON.parse(text).code,
  retryAfter: headers.get('retry-after'),
})

const LATER = { status: 503, code: 'state_unavailable', retryAfter: expect.stringMatching(/^\d+$/) }

const health = async (server: Server) => {
  const { status, text } = await ask(server, '/api/health')
  return { http: status, ready: JSON.parse(text).ready }
}

/** The status of the card of an agent. */
const card = async (server: Server) => {
  const response = await fetch(`${server().url}/.well-known/agent-card.json`)
  await response.text()
  return response.status
}

/** How many requests that need no store are answered, one after the other, until a promise has settled. */
async function answeredUntil(server: Server, promise: Promise<unknown>): Promise<number> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  promise.then(over, over)
  let count = 0
  for (; !isOver; count++) expect(await card(server)).toBe(200)
  return count
}

describe.each(RUNTIMES)('while another process writes into the file: %s', (...runtime) => {
  it('reads are answered, writes refused for now, plain runs go on, and a run at work loses nothing', async () => {
    const { moveIn, database } = await street(runtime)
    const [{ server }, idle] = [await moveIn(), await moveIn()]
    const owner = as(own('owner'))
    const done = await accept(server, 'agents/counts', { input: '30' }, owner)
    const record = await ended(server, done.id, owner)
    const messages = await follow(server, done.id, owner)
    const { id, gate } = await acceptGated(server, owner, {}, 'chatty')
    const followed = await following(server, id, owner)
    expect(await health(server)).toEqual({ http: 200, ready: true })

    const letGo = await holdWriteLock(database)
    expect(await get(server, done.id, owner)).toEqual(record)
    expect(await follow(server, done.id, owner)).toEqual(messages)
    expect(await get(server, id, owner)).toMatchObject({ status: 'running' })
    expect((await list(server, '', owner)).runs.map(run => run.id)).toEqual([id, done.id])
    expect((await ask(server, '/api/agents/corrected/corrections', { headers: owner })).status).toBe(200)
    expect(await health(server)).toEqual({ http: 503, ready: false })
    const refused = Promise.all([
      post(server, '/api/agents/counts/run', { input: '3' }, { ...owner, prefer: 'respond-async' }),
      post(server, '/api/agents/corrected/corrections', CORRECTION, owner),
    ])
    // While these two wait, nobody else does: not much more than where nothing is to be written.
    const counts = [server, idle.server].map(each => answeredUntil(each, refused))
    const [writing = 0, others = 0] = await Promise.all(counts)
    expect(writing).toBeGreaterThan(others / 8)
    for (const answer of await refused) expect(refusalIn(answer)).toEqual(LATER)
    expect((await run(server, '/api/agents/echo/run')).text).toBe('one two')
    const { events } = await stream(server, '/api/agents/counts/stream', { input: '40' })
    expect(events).toHaveLength(41)
    await letGo()

    await eventually(async () => expect(await health(server)).toEqual({ http: 200, ready: true }))
    const again = await post(server, '/api/agents/corrected/corrections', CORRECTION, owner)
    expect(again.status, again.text).toBe(201)
    await openGate(server, gate)
    const all = await followed.all
    expect(all.map(message => Number(message.id))).toEqual(all.map((_, index) => index + 1))
    expect(await follow(server, id, owner)).toEqual(all)
    const text = all.map(({ event }) => (event.type === 'text' ? event.text : '')).join('')
    expect(text).toMatch(/^before \.+ after$/)
    expect(await get(server, id, owner)).toMatchObject({ status: 'completed', result: { text } })
  })
})

describe('while another process writes into the file', () => {
  it('a write that it lets go of in time is only late', async () => {
    const { moveIn, database } = await street()
    const { server } = await moveIn()
    const owner = as(own('owner'))
    const letGo = await holdWriteLock(database)
    const started = accept(server, 'agents/counts', { input: '3' }, owner)
    // It waits by now: what was asked after it is answered.
    expect((await list(server, '', owner)).runs).toEqual([])
    await letGo()
    const { id } = await started
    expect(await ended(server, id, owner)).toMatchObject({ status: 'completed' })
  })

  it('tasks are read, and one at work loses nothing', async () => {
    const { moveIn, database } = await street()
    const { server } = await moveIn()
    const headers = as(own('owner'))
    const done = await sendForTask(server, rpc1, { headers, agent: 'makes' })
    const { id, gate } = await taskAtWork(server, rpc1, { headers, agent: 'chatty' })
    const followed = await subscribe(server, rest1, id, { headers })
    await followed.next()
    const letGo = await holdWriteLock(database)
    expect(await getTask(server, rpc1, done.id, { headers })).toEqual(done)
    const listed = await tasksOf(server, rest1, {}, { headers })
    expect(new Set(listed.tasks.map(task => task.id))).toEqual(new Set([done.id, id]))
    expect(await card(server)).toBe(200)
    await openGate(server, gate)
    await letGo()
    expect((await followed.rest()).at(-1)).toMatchObject({ kind: 'status', state: 'completed' })
    const task = await getTask(server, rpc1, id, { headers })
    expect(task.state).toBe('completed')
    expect(task.artifacts[0]?.text).toMatch(/^before \.* after$/)
  })

  it('a task that would begin or go on is refused for now, and can be begun afterwards', async () => {
    const { moveIn, database } = await street()
    const { server } = await moveIn()
    const headers = as(own('owner'))
    const waiting = await sendForTask(server, rpc1, { headers, agent: 'clerk' })
    const letGo = await holdWriteLock(database)
    const send = (message: object) =>
      ask(
        server,
        '/message:send',
        jsonRequest(
          { message: { messageId: own('m'), role: 'ROLE_USER', parts: [{ text: 'Oslo' }], ...message } },
          headers,
        ),
      )
    const answers = await Promise.all([
      send({ metadata: { agentName: 'echo' } }),
      send({ taskId: waiting.id }),
    ])
    for (const { status } of answers) expect(status).toBe(503)
    expect(await getTask(server, rpc1, waiting.id, { headers })).toEqual(waiting)
    await letGo()
    const answered = await sendForTask(server, rpc1, { headers, taskId: waiting.id, text: 'Oslo' })
    expect(answered).toMatchObject({ state: 'completed', id: waiting.id })
    expect(answered.history).toHaveLength(3)
  })

  it('another server reads on as well, and its writes wait for nobody but the lock', async () => {
    const { moveIn, database } = await street()
    const [one, two] = [await moveIn(), await moveIn()]
    const owner = as(own('owner'))
    const { id, gate } = await acceptGated(one.server, owner, {}, 'chatty')
    const followed = await Promise.all([one, two].map(({ server }) => following(server, id, owner)))
    const letGo = await holdWriteLock(database)
    for (const { server } of [one, two])
      expect(await get(server, id, owner)).toMatchObject({ status: 'running' })
    await openGate(one.server, gate)
    await letGo()
    const [here, there] = await Promise.all(followed.map(({ all }) => all))
    expect(there).toEqual(here)
    expect(here?.at(-1)?.event).toEqual({ type: 'finish', finishReason: 'stop' })
  })
})

describe('while another process writes into the file of one that was killed', () => {
  /** Runs of one owner at work in a process that is killed, while others may not write. */
  async function orphans(count: number) {
    const neighbours = await street()
    const [one, other] = [await neighbours.moveIn(), await neighbours.moveIn()]
    const owner = as(own('owner'))
    const begun = Array.from({ length: count }, () => acceptGated(one.server, owner))
    const ids = (await Promise.all(begun)).map(({ id }) => id)
    const followed = await Promise.all(ids.map(id => following(other.server, id, owner)))
    const letGo = await holdWriteLock(neighbours.database)
    await one.kill()
    return { ...neighbours, other, owner, ids, followed, letGo }
  }

  it('its runs end for who follows them elsewhere once the file can be written again', async () => {
    const { other, owner, ids, followed, letGo } = await orphans(5)
    // Meanwhile they are read as what they were.
    for (const id of ids) expect(await get(other.server, id, owner)).toMatchObject({ status: 'running' })
    expect((await list(other.server, '', owner)).runs).toHaveLength(5)
    await letGo()
    for (const each of followed) await expectInterrupted(each)
    expect((await list(other.server, '?status=running', owner)).runs).toEqual([])
  })

  it('a process that starts then ends them by itself, with nobody asking', async () => {
    const { moveIn, other, database, owner, ids, letGo } = await orphans(5)
    await other.kill()
    const late = await moveIn()
    await letGo()
    const reader = new DatabaseSync(database, { readOnly: true })
    const statuses = () =>
      reader
        .prepare("SELECT value FROM documents WHERE collection = 'run'")
        .all()
        .map(({ value }) => JSON.parse(String(value)).record)
    await eventually(() => {
      expect(statuses()).toHaveLength(ids.length)
      for (const record of statuses()) {
        expect(record).toMatchObject({ status: 'failed', error: { code: 'interrupted' } })
      }
    })
    reader.close()
    for (const id of ids) await expectInterrupted({ id, all: follow(late.server, id, owner) })
  })
})
