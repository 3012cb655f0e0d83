/**
 * Servers that are killed in the middle of A2A tasks, and started again on what they stored.
 *
 * @module-tag long
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  as,
  cancel,
  expectError,
  getTask,
  hear,
  list,
  openSend,
  own,
  type SeenEvent,
  type SeenTask,
  type Server,
  send,
  sendForTask,
  subscribe,
  subscribeCall,
  TONGUES,
} from '../contracts/a2a/client.ts'
import { storesOf } from './deployments.ts'
import type { Runtime } from './harness.ts'

const { rpc1, rest1, rpc03 } = TONGUES

const starts = storesOf('a2a')

/** A task at work, with the events that were seen of it. */
interface Unfinished {
  readonly id: string
  readonly events: readonly SeenEvent[]
}

type Headers = ReturnType<typeof as>

/** Reads some of a task that does not end. */
async function unfinished(server: Server, headers: Headers, taskId?: string): Promise<Unfinished> {
  const stream = await openSend(server, rest1, { agent: 'chatty', text: own('gate'), headers, taskId })
  const events: SeenEvent[] = []
  while (events.length < 10) events.push((await stream.next())!)
  return { id: events[0]?.task?.id ?? '', events }
}

/** A task as it was, failed, with all that was seen of it. */
async function expectFailed(server: Server, { id, events }: Unfinished, headers: Headers): Promise<SeenTask> {
  const task = await getTask(server, rpc1, id, { headers })
  expect(task.state).toBe('failed')
  expect(task.says?.text).toMatch(/^The service stopped while the agent was at work/)
  expect(task.history?.map(({ role }) => role)).toContain('user')
  const begun = events[0]?.task?.artifacts[0]?.text ?? ''
  const seen = begun + events.map(({ artifact }) => artifact?.text ?? '').join('')
  const { text = '' } = task.artifacts[0] ?? {}
  expect(text.startsWith(seen)).toBe(true)
  expect(text).toMatch(/^before \.*$/)
  for (const tongue of [rest1, rpc03]) {
    expectError(
      tongue,
      await hear(server, tongue, subscribeCall(tongue, id, { headers })),
      'unsupportedOperation',
    )
    expectError(tongue, await cancel(server, tongue, id, { headers }), 'taskNotCancelable')
    expectError(tongue, await send(server, tongue, { taskId: id, headers }), 'unsupportedOperation')
  }
  return task
}

/** Whoever was cut off by the end of the server goes on after what it saw, to the end. */
async function expectResumed(server: Server, { id, events }: Unfinished, headers: Headers): Promise<void> {
  const lastEventId = events.at(-1)?.id
  const rest = await (await subscribe(server, rest1, id, { headers, lastEventId })).rest()
  const numbers = [...events, ...rest].map(event => Number(event.id))
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
  expect(rest.at(-1)).toMatchObject({ kind: 'status', state: 'failed' })
  expect(rest.filter(({ kind }) => kind === 'status')).toHaveLength(1)
}

describe.each(Object.entries(starts))(
  'a server that is killed in the middle of A2A tasks: %s',
  (_, start) => {
    let folder: string
    let runtime: Runtime
    const server: Server = () => ({ ...runtime, folder })
    const restart = async () => {
      await runtime.kill()
      runtime = await start(folder)
    }
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'servable-a2a-'))
      runtime = await start(folder)
    })
    afterEach(async () => {
      await runtime.stop()
      await rm(folder, { recursive: true, force: true })
    })

    it('has after its restart every task: failed those at work, and the others as they were', async () => {
      const headers = as(own('owner'))
      const done = await sendForTask(server, rpc1, { headers, agent: 'makes' })
      const waiting = await sendForTask(server, rpc1, { headers, agent: 'clerk' })
      const atWork = await Promise.all(Array.from({ length: 10 }, () => unfinished(server, headers)))
      await restart()
      for (const each of atWork) await expectFailed(server, each, headers)
      for (const each of atWork) await expectResumed(server, each, headers)
      expect(await getTask(server, rpc1, done.id, { headers })).toEqual(done)
      expect(await getTask(server, rpc1, waiting.id, { headers })).toEqual(waiting)
      const answered = await sendForTask(server, rpc1, { headers, taskId: waiting.id, text: 'Oslo' })
      expect(answered).toMatchObject({ state: 'completed', id: waiting.id })
      expect(answered.history).toHaveLength(3)
    })

    it('ends the streams of tasks that were at work, before anyone asks for them otherwise', async () => {
      const headers = as(own('owner'))
      const atWork = await unfinished(server, headers)
      await restart()
      await expectResumed(server, atWork, headers)
    })

    it('tells of them in the first list after its restart', async () => {
      const headers = as(own('owner'))
      const atWork = await Promise.all(Array.from({ length: 3 }, () => unfinished(server, headers)))
      const done = await sendForTask(server, rest1, { headers })
      await restart()
      const ids = async (status: string) =>
        new Set((await list(server, rest1, { status }, { headers })).tasks.map(({ id }) => id))
      expect(await ids('TASK_STATE_FAILED')).toEqual(new Set(atWork.map(({ id }) => id)))
      expect(await ids('TASK_STATE_WORKING')).toEqual(new Set())
      const all = await list(server, rest1, {}, { headers })
      expect(all.totalSize).toBe(4)
      expect(new Set(all.tasks.map(({ state }) => state))).toEqual(new Set(['failed', 'completed']))
      expect(all.tasks.map(({ id }) => id)).toContain(done.id)
    })

    it('can be killed again and again', async () => {
      const headers = as(own('owner'))
      const rounds: Unfinished[] = []
      for (let round = 0; round < 3; round++) {
        rounds.push(await unfinished(server, headers))
        await restart()
      }
      for (const each of rounds) await expectFailed(server, each, headers)
    })
  },
)
