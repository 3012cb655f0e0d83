/** Tasks: calls that outlive their connection. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { as, own, type Server, uuid } from '../runs/client.ts'
import {
  type Asked,
  accepted,
  ask,
  begin,
  call,
  callOf,
  DECLINED,
  expectError,
  expectRefused,
  FORMS,
  fateOf,
  type Json,
  open,
  resultOf,
  said,
  TASKS,
  told,
  untilTold,
} from './client.ts'

const CAN = { ...TASKS, ...FORMS }

export function workingCases(server: Server): void {
  const begun = async (name: string, input: string | object = 'x', asked: Asked = {}): Promise<Json> => {
    const task = await call(server, name, input, { can: CAN, ...asked })
    expect(task).toMatchObject({
      resultType: 'task',
      status: 'working',
      taskId: expect.stringMatching(uuid),
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      lastUpdatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      ttlMs: 86_400_000,
      pollIntervalMs: 50,
    })
    return task
  }
  const look = (taskId: string, asked: Asked = {}): Promise<Json> =>
    resultOf(server, 'tasks/get', { taskId }, { can: CAN, ...asked })
  /** Waits until a task stands so. */
  const until = async (taskId: string, status: string, asked?: Asked): Promise<Json> => {
    await eventually(async () => expect((await look(taskId, asked)).status).toBe(status))
    return look(taskId, asked)
  }
  const update = (taskId: string, inputResponses: object, asked: Asked = {}) =>
    resultOf(server, 'tasks/update', { taskId, inputResponses }, { can: CAN, ...asked })
  const cancel = (taskId: string, asked: Asked = {}) =>
    resultOf(server, 'tasks/cancel', { taskId }, { can: CAN, ...asked })

  describe.concurrent('a task', () => {
    it('is at work, and then has the result of its call', async () => {
      const input = own('task')
      const { taskId, createdAt } = await begun('gated_task', input)
      await untilTold(server, input, 'started')
      expect(await look(taskId)).toMatchObject({
        resultType: 'complete',
        taskId,
        status: 'working',
        createdAt,
      })
      await open(server, input)
      const done = await until(taskId, 'completed')
      expect(done.result).toEqual({
        resultType: 'complete',
        content: [{ type: 'text', text: 'First and last.' }],
        _meta: { 'servable/runId': taskId },
      })
      expect([done.createdAt, done.ttlMs, Date.parse(done.lastUpdatedAt) >= Date.parse(createdAt)]).toEqual([
        createdAt,
        86_400_000,
        true,
      ])
      expect(await look(taskId)).toEqual(done)
    })

    it('is what a call becomes that takes long, after its progress, and no other one', async () => {
      const input = own('long')
      const asked = { can: CAN, meta: { progressToken: 1 } }
      const { messages, json } = await told(ask(server, 'tools/call', callOf('gated', input), asked))
      expect(messages.slice(0, -1)).toMatchObject([{ method: 'notifications/progress' }])
      expect(json.result).toMatchObject({ resultType: 'task', status: 'working' })
      expect(await fateOf(server, input)).toBe('started')
      await open(server, input)
      expect(said((await until(json.result.taskId, 'completed')).result)).toBe('First and last.')
      expect((await call(server, 'thinks', 'x', { can: CAN })).resultType).toBe('complete')
    })

    it('has structured content, and links to the files that are stored', async () => {
      const [weighed, written] = [await begun('weighs_task'), await begun('writes_task')]
      expect((await until(weighed.taskId, 'completed')).result.structuredContent).toEqual({ grams: 12 })
      const [link] = (await until(written.taskId, 'completed')).result.content
      expect(link).toMatchObject({ type: 'resource_link', name: 'a b.csv', mimeType: 'text/csv' })
      expect(link.uri).toBe(`servable://files/${written.taskId}/message-1.0`)
      const textOf = async (uri: string) =>
        (await resultOf(server, 'resources/read', { uri })).contents[0].text
      expect(await textOf(link.uri)).toBe('A'.repeat(6000))
      // A call that is none has the file itself, unless its run is stored as well.
      const [part] = (await call(server, 'writes')).content
      if (part.type === 'resource') expect(part.resource.blob).toHaveLength(8000)
      else expect(await textOf(part.uri)).toBe('A'.repeat(6000))
    })

    it('of an agent that fails has a result that says so', async () => {
      const { taskId } = await begun('fails_task')
      const { result } = await until(taskId, 'completed')
      expect([result.isError, said(result)]).toEqual([true, 'Internal server error'])
    })

    it('fails where the service does', async () => {
      const { taskId } = await begun('breaks_task')
      const { error, result } = await until(taskId, 'failed')
      expect([error, result]).toEqual([
        { code: -32603, message: 'Internal server error', data: { code: 'invalid_event' } },
        undefined,
      ])
    })

    it('is cancelled, which stops its agent', async () => {
      const input = own('cancelled')
      const { taskId } = await begun('gated_task', input)
      await untilTold(server, input, 'started')
      expect(await cancel(taskId)).toMatchObject({ resultType: 'complete' })
      await untilTold(server, input, 'stopped')
      const { status, result, error } = await look(taskId)
      expect([status, result, error]).toEqual(['cancelled', undefined, undefined])
      await cancel(taskId)
      const done = await begun('weighs_task')
      await until(done.taskId, 'completed')
      await cancel(done.taskId)
      expect((await look(done.taskId)).status).toBe('completed')
    })
  })

  describe.concurrent('a task that asks', () => {
    it('is answered, and goes on under its own id', async () => {
      const input = own('asks')
      const { taskId } = await begun('asksTwice_task', input)
      const asked = await until(taskId, 'input_required')
      expect(asked.inputRequests.name).toMatchObject({
        method: 'elicitation/create',
        params: { requestedSchema: { required: ['name'] } },
      })
      // What was not asked changes nothing.
      await update(taskId, { hue: accepted({ hue: 'red' }) })
      expect((await look(taskId)).inputRequests).toEqual(asked.inputRequests)
      await update(taskId, { name: accepted({ name: 'Ann' }) })
      await eventually(async () =>
        expect(Object.keys((await look(taskId)).inputRequests ?? {})).toEqual(['hue']),
      )
      await update(taskId, { hue: accepted({ hue: 'red' }) })
      const { result, taskId: same } = await until(taskId, 'completed')
      expect([said(result), same]).toEqual([`Ann likes red, for ${input}`, taskId])
      await update(taskId, { hue: accepted({ hue: 'blue' }) })
      expect((await look(taskId)).result).toEqual(result)
    })

    it('is answered one question after the other', async () => {
      const { taskId } = await begun('asksBoth_task')
      await until(taskId, 'input_required')
      await update(taskId, { right: accepted({ right: 'R' }) })
      expect(Object.keys((await look(taskId)).inputRequests)).toEqual(['left'])
      await update(taskId, { left: accepted({ left: 'L' }) })
      const { result } = await until(taskId, 'completed')
      expect(JSON.parse(said(result))).toEqual([{ left: 'L' }, { right: 'R' }])
    })

    it('is approved, or told that it is not', async () => {
      for (const [answer, times] of [
        [accepted({ decision: 'approve' }), '1'],
        [DECLINED, 'unknown'],
      ] as const) {
        const paid = `${crypto.getRandomValues(new Uint32Array(1))[0]}`
        const { taskId } = await begun('pays_task', paid)
        await until(taskId, 'input_required')
        await update(taskId, { pay: answer })
        expect(said((await until(taskId, 'completed')).result)).toContain('paid')
        expect(await fateOf(server, `paid ${paid}`)).toBe(times)
      }
    })

    it('is cancelled by whoever declines, and by `tasks/cancel`', async () => {
      for (const end of [(id: string) => update(id, { size: DECLINED }), cancel]) {
        const { taskId } = await begun('asks_task')
        await until(taskId, 'input_required')
        await end(taskId)
        expect((await look(taskId)).status).toBe('cancelled')
        await update(taskId, { size: accepted({ answer: 'M' }) })
        expect((await look(taskId)).status).toBe('cancelled')
      }
    })

    it('is asked with the question where its call is none yet', async () => {
      const asked = await call(server, 'asks', 'x', { can: CAN })
      expect([asked.resultType, Object.keys(asked.inputRequests)]).toEqual(['input_required', ['size']])
      const params = { requestState: asked.requestState, inputResponses: { size: accepted({ answer: 'M' }) } }
      expect(said(await call(server, 'asks', 'x', { can: CAN, params }))).toBe('It is M.')
    })
  })

  describe.concurrent('tasks', () => {
    it('are for clients that declare them', async () => {
      const missing = [400, -32021] as const
      const needed = { requiredCapabilities: TASKS_NEEDED }
      expect((await expectRefused(server, callOf('gated_task'), missing)).data).toEqual(needed)
      const { taskId } = await begun('weighs_task')
      for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update'])
        expect(expectError(await told(ask(server, method, { taskId })), missing).data).toEqual(needed)
      const session = await begin(server)
      expectError(await told(session.call('gated_task')), missing)
      expect((await until(taskId, 'completed')).status).toBe('completed')
    })

    it('are not what a tool becomes that forbids it', async () => {
      const input = own('never')
      const answer = call(server, 'gated_never', input, { can: CAN, accept: 'application/json' })
      await untilTold(server, input, 'started')
      await open(server, input)
      expect((await answer).resultType).toBe('complete')
    })

    it('are their owners’ alone', async () => {
      const ann = { headers: as(own('ann')), can: CAN }
      const input = own('ann')
      const [atWork, asking] = [await begun('gated_task', input, ann), await begun('asks_task', 'x', ann)]
      await untilTold(server, input, 'started')
      await until(asking.taskId, 'input_required', ann)
      for (const headers of [as(own('eve')), {}])
        for (const taskId of [atWork.taskId, asking.taskId, crypto.randomUUID(), 'none', ''])
          for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
            const params = { taskId, inputResponses: { size: accepted({ answer: 'evil' }) } }
            const answer = await told(ask(server, method, params, { can: CAN, headers }))
            expect(expectError(answer, [200, -32602]).message).toBe('There is no such task')
          }
      expect(await fateOf(server, input)).toBe('started')
      expect((await look(asking.taskId, ann)).status).toBe('input_required')
      await update(asking.taskId, { size: accepted({ answer: 'M' }) }, ann)
      expect(said((await until(asking.taskId, 'completed', ann)).result)).toBe('It is M.')
      await cancel(atWork.taskId, ann)
      await untilTold(server, input, 'stopped')
    })

    it('are named in a header', async () => {
      const { taskId } = await begun('weighs_task')
      for (const headers of [{ 'mcp-name': crypto.randomUUID() }, { 'mcp-name': '' }])
        expectError(await told(ask(server, 'tasks/get', { taskId }, { can: CAN, headers })), [400, -32020])
    })
  })
}

const TASKS_NEEDED = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
