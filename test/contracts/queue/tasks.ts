/** A2A tasks that wait for a slot. */
import { expect, it } from 'vitest'
import {
  atWork,
  cancel,
  expectError,
  getTask,
  hear,
  list as listTasks,
  noted,
  notesOf,
  openGate,
  openSend,
  reaches,
  send,
  sendCall,
  sendForTask,
  TONGUES,
} from '../a2a/client.ts'
import { as, ask, type Fields, get, list, own, type Server } from '../runs/client.ts'

const { rpc1, rest1, rpc03 } = TONGUES

/** Two tasks of an owner, who has no other slot. */
async function busy(server: Server, headers: Fields) {
  return [await atWork(server, rpc1, { headers }), await atWork(server, rpc1, { headers })] as const
}

/** Sends a message whose task waits. */
async function waiting(server: Server, headers: Fields, tongue = rpc1) {
  const gate = own('gate')
  const task = await sendForTask(server, tongue, { agent: 'gated', text: gate, wait: false, headers })
  expect(task.state).toBe('submitted')
  return { ...task, gate }
}

const finish = async (server: Server, headers: Fields, tasks: readonly { id: string; gate: string }[]) => {
  for (const { gate } of tasks) await openGate(server, gate)
  for (const { id } of tasks) await reaches(server, rest1, id, 'completed', { headers })
}

export function taskCases(server: Server): void {
  it('wait past the bound of a client, and start in their order', async () => {
    const headers = as(own('owner'))
    const [first, second] = await busy(server, headers)
    const third = await waiting(server, headers)
    const fourth = await waiting(server, headers, rpc03)
    expect(
      (await listTasks(server, rest1, { status: 'TASK_STATE_SUBMITTED' }, { headers })).tasks,
    ).toHaveLength(2)
    await finish(server, headers, [first])
    await noted(server, `${third.gate} started`)
    expect((await getTask(server, rpc1, fourth.id, { headers })).state).toBe('submitted')
    expect(await notesOf(server)).not.toContain(`${fourth.gate} started`)
    await finish(server, headers, [second, third, fourth])
    const done = await getTask(server, rpc1, third.id, { headers })
    expect(done.artifacts[0]?.text).toBe('before after')
    expect(done.history?.map(({ role, text }) => [role, text])).toEqual([['user', third.gate]])
  })

  it('are followed and waited for before they begin', async () => {
    const headers = as(own('owner'))
    const tasks = await busy(server, headers)
    const [streamed, blocking] = [own('gate'), own('gate')]
    const sending = (text: string) => ({ agent: 'gated', text, headers })
    const stream = await openSend(server, rest1, sending(streamed))
    expect((await stream.next())?.task?.state).toBe('submitted')
    const answer = hear(server, rpc1, sendCall(rpc1, sending(blocking)))
    for (const gate of [streamed, blocking]) await openGate(server, gate)
    await finish(server, headers, tasks)
    const events = await stream.rest()
    expect(events.filter(({ kind }) => kind === 'status').map(({ state }) => state)).toEqual([
      'working',
      'completed',
    ])
    expect((await answer).task).toMatchObject({ state: 'completed' })
  })

  it('are cancelled before they begin, and never do', async () => {
    const headers = as(own('owner'))
    const tasks = await busy(server, headers)
    const { id, gate } = await waiting(server, headers)
    expect((await cancel(server, rest1, id, { headers })).task?.state).toBe('canceled')
    const next = await waiting(server, headers)
    await finish(server, headers, [...tasks, next])
    expect(await notesOf(server)).not.toContain(`${gate} started`)
    expect((await getTask(server, rpc1, id, { headers })).state).toBe('canceled')
  })

  it('take no message, and belong to their owner', async () => {
    const headers = as(own('owner'))
    const tasks = await busy(server, headers)
    const { id, gate } = await waiting(server, headers)
    const other = as(own('owner'))
    expectError(rpc1, await send(server, rpc1, { taskId: id, text: 'x', headers }), 'unsupportedOperation')
    expectError(rpc1, await cancel(server, rpc1, id, { headers: other }), 'taskNotFound')
    expect((await list(server, '?status=queued', other)).runs).toEqual([])
    await finish(server, headers, [...tasks, { id, gate }])
  })

  it('are listed with their runs, which are cancelled with them', async () => {
    const headers = as(own('owner'))
    const tasks = await busy(server, headers)
    const first = await waiting(server, headers)
    const second = await waiting(server, headers)
    const { runs } = await list(server, '?status=queued', headers)
    expect(runs.map(({ taskId }) => taskId)).toEqual([second.id, first.id])
    expect(await get(server, runs[1]!.id, headers)).toMatchObject({ status: 'queued', position: 1 })
    const path = `/api/runs/${runs[0]!.id}/cancel`
    expect((await ask(server, path, { method: 'POST', headers })).status).toBe(200)
    expect(await get(server, runs[0]!.id, headers)).toMatchObject({ status: 'cancelled', taskId: second.id })
    expect((await getTask(server, rpc1, second.id, { headers })).state).toBe('canceled')
    await finish(server, headers, [...tasks, first])
    expect(await get(server, runs[1]!.id, headers)).toMatchObject({ status: 'completed', taskId: first.id })
  })

  it('are refused past the bound of the line', async () => {
    const headers = as(own('owner'))
    const tasks: { id: string; gate: string }[] = [...(await busy(server, headers))]
    for (let count = 0; count < 5; count++) tasks.push(await waiting(server, headers))
    const { error } = await send(server, rest1, { agent: 'gated', text: 'x', wait: false, headers })
    expect(error?.code).toBe(429)
    expect((await listTasks(server, rest1, {}, { headers })).totalSize).toBe(7)
    await finish(server, headers, tasks)
  })
}
