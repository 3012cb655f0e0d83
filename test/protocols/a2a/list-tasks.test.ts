import { describe, expect, it } from 'vitest'
import { Agent, createHandler } from '../../../src/index.ts'
import type { ListRequest } from '../../../src/protocols/a2a/model.ts'
import { listTasks } from '../../../src/protocols/a2a/tasks/list-tasks.ts'
import { putTask } from '../../../src/protocols/a2a/tasks/task-record.ts'
import { memoryStore } from '../../../src/stores/memory.ts'

const brief = new Agent({ name: 'brief', register: false, run: () => 'ok' })
const asking = new Agent({
  name: 'asking',
  register: false,
  run: () => ({ text: 'And?', finishReason: 'input_required' as const }),
})
const handler = createHandler({
  registry: false,
  logger: false,
  agents: { brief, asking },
  a2a: { default: 'brief' },
})

async function call(method: string, params: object) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' }
  const response = await handler(new Request('http://127.0.0.1/', { method: 'POST', headers, body }))
  const { result, error } = await response.json()
  return result ?? { error }
}

describe('a page of tasks', () => {
  it('ends early where its tasks are too large together, and the next one goes on', async () => {
    const ids: string[] = []
    for (let task = 0; task < 6; task++) {
      const parts = [{ text: 'x'.repeat(4_000_000) }]
      const message = { messageId: 'm', role: 'ROLE_USER', contextId: 'c', parts }
      ids.push((await call('SendMessage', { message })).task.id)
    }
    const listed: string[] = []
    const sizes: number[] = []
    let pageToken = ''
    do {
      const page = await call('ListTasks', { contextId: 'c', pageSize: 100, pageToken })
      for (const { id } of page.tasks) listed.push(id)
      sizes.push(page.tasks.length)
      expect(page).toMatchObject({ pageSize: 100, totalSize: 6 })
      pageToken = page.nextPageToken
    } while (pageToken !== '')
    expect(sizes).toEqual([4, 2])
    expect(listed.toSorted()).toEqual(ids.toSorted())
    // What is not asked for takes no room.
    const light = await call('ListTasks', { contextId: 'c', pageSize: 100, historyLength: 0 })
    expect(light.tasks).toHaveLength(6)
    expect(light.nextPageToken).toBe('')
  })
})

describe('how many tasks there are', () => {
  it('is told up to a thousand', () => {
    const store = memoryStore()
    const put = (from: number, to: number) =>
      store.transact(tx => {
        for (let n = from; n < to; n++) {
          const status = {
            state: n % 2 === 0 ? 'completed' : 'failed',
            timestamp: new Date(n).toISOString(),
          } as const
          const task = {
            id: `t-${n}`,
            contextId: 'c',
            agent: 'a',
            owner: 'o',
            isAtWork: false,
            instance: '',
            turns: 1,
          }
          putTask(tx, { ...task, status })
        }
      })
    const total = (request: Partial<ListRequest> = {}) =>
      store.transact(tx =>
        listTasks(tx, { owner: 'o' }, { pageSize: 10, includeArtifacts: false, ...request }),
      ).totalSize
    put(0, 999)
    expect([total(), total({ state: 'completed' }), total({ updatedAfter: 900 })]).toEqual([999, 500, 99])
    put(999, 1500)
    expect([total(), total({ state: 'completed' }), total({ updatedAfter: 900 })]).toEqual([1000, 750, 600])
  })
})

describe('a task', () => {
  it('takes no more messages once it is large: each answer about it would have all of them', async () => {
    const metadata = { agentName: 'asking' }
    const parts = [{ text: 'x'.repeat(9_000_000) }]
    const send = (taskId: string | undefined) => {
      const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', metadata, parts, taskId }
      return call('SendMessage', { message, configuration: { historyLength: 0 } })
    }
    const { id } = (await send(undefined)).task
    for (let turn = 2; turn <= 4; turn++) {
      expect((await send(id)).task).toMatchObject({ id, status: { state: 'TASK_STATE_INPUT_REQUIRED' } })
    }
    expect((await send(id)).error.message).toMatch(/^The history of the task is full/)
    expect((await call('GetTask', { id, historyLength: 1 })).id).toBe(id)
  })
})
