/**
 * Servers that are killed in the middle of tasks of MCP, and started again on what they stored.
 *
 * @module-tag long
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Asked,
  accepted,
  ask,
  call,
  callOf,
  expectError,
  FORMS,
  type Json,
  resultOf,
  said,
  TASKS,
  told,
  untilTold,
} from '../contracts/mcp/client.ts'
import { as, own, type Server } from '../contracts/runs/client.ts'
import { eventually } from '../eventually.ts'
import { ELSEWHERE } from '../tags.ts'
import { storesOf } from './deployments.ts'
import type { Runtime } from './harness.ts'

const starts = storesOf('mcp')

describe.each(Object.entries(starts))('a server that is killed: %s', ELSEWHERE, (_, start) => {
  const can = { ...TASKS, ...FORMS }
  const ann: Asked = { can, headers: as(own('ann')) }
  const [going, plain] = [own('going'), own('plain')]
  let folder: string
  let runtime: Runtime
  let tasks: { readonly going: string; readonly plain: string; readonly asking: string; readonly done: Json }
  let asked: Json
  const server: Server = () => ({ ...runtime, folder })

  const begin = async (name: string, input: string): Promise<string> => {
    const { resultType, taskId } = await call(server, name, input, ann)
    expect(resultType).toBe('task')
    return taskId
  }
  const look = (taskId: string): Promise<Json> => resultOf(server, 'tasks/get', { taskId }, ann)
  const until = async (taskId: string, status: string): Promise<Json> => {
    // An object of Workers goes on when its alarm rings.
    await eventually(async () => expect((await look(taskId)).status).toBe(status), 45_000)
    return look(taskId)
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'servable-mcp-'))
    runtime = await start(folder, 'usual')
    const [first, second, third, fourth] = [
      await begin('resumes_task', going),
      await begin('gated_task', plain),
      await begin('asksTwice_task', 'x'),
      await begin('weighs_task', 'x'),
    ]
    await untilTold(server, going, 'started')
    await untilTold(server, plain, 'started')
    // A step is done once more if the process dies before its end is stored.
    await eventually(async () => {
      const log = await fetch(
        `${runtime.url}/api/runs/${first}/events`,
        ann.headers && { headers: ann.headers },
      )
      expect(await log.text()).toMatch(
        /"name":"before"[^}]*"status":"completed"|"status":"completed"[^}]*"name":"before"/,
      )
    })
    await until(third, 'input_required')
    tasks = { going: first, plain: second, asking: third, done: await until(fourth, 'completed') }
    asked = await call(server, 'asks', 'x', ann)
    await runtime.kill()
    runtime = await start(folder, 'later')
  })
  afterAll(async () => {
    await runtime.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it('ends the task of an agent that goes on, whose result is read under its first id', async () => {
    const { result, taskId } = await until(tasks.going, 'completed')
    expect(taskId).toBe(tasks.going)
    // What was done before is not done again, and what was said is told once.
    expect(result).toEqual({
      resultType: 'complete',
      content: [{ type: 'text', text: `before of first, later for ${going}` }],
      _meta: { 'servable/runId': tasks.going },
    })
    expect((await look(tasks.going)).result).toEqual(result)
  })

  it('says of the task of any other agent that it was interrupted', async () => {
    const { error, result } = await until(tasks.plain, 'failed')
    expect(error).toEqual({
      code: -32603,
      message: expect.stringMatching(/./),
      data: { code: 'interrupted' },
    })
    expect(result).toBeUndefined()
    await resultOf(server, 'tasks/cancel', { taskId: tasks.plain }, ann)
    expect((await look(tasks.plain)).status).toBe('failed')
  })

  it('has the result of a task that had ended', async () => {
    expect(await look(tasks.done.taskId)).toEqual(tasks.done)
  })

  it('has a task that waits answered', async () => {
    const answer = (inputResponses: object) =>
      resultOf(server, 'tasks/update', { taskId: tasks.asking, inputResponses }, ann)
    expect(Object.keys((await look(tasks.asking)).inputRequests)).toEqual(['name'])
    await answer({ name: accepted({ name: 'Ann' }) })
    await eventually(async () =>
      expect(Object.keys((await look(tasks.asking)).inputRequests ?? {})).toEqual(['hue']),
    )
    await answer({ hue: accepted({ hue: 'red' }) })
    expect(said((await until(tasks.asking, 'completed')).result)).toBe('Ann likes red, for x')
  })

  it('has a call that waits go on with its state', async () => {
    const { requestState } = asked
    const params = { ...callOf('asks'), requestState, inputResponses: { size: accepted({ answer: 'M' }) } }
    expect(said((await told(ask(server, 'tools/call', params, ann))).json.result)).toBe('It is M.')
  })

  it('still has no task for anyone else', async () => {
    for (const taskId of [tasks.going, tasks.plain, tasks.asking]) {
      const answer = await told(ask(server, 'tasks/get', { taskId }, { can, headers: as(own('eve')) }))
      expectError(answer, [200, -32602])
    }
  })
})
