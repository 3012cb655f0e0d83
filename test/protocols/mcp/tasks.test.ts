/** Calls that outlive their connection: stored runs under another name. */
import { describe, expect, it } from 'vitest'
import { Agent, memoryState } from '../../../src/index.ts'
import { mcpTasks } from '../../../src/protocols/mcp/plugin.ts'
import { speaker } from '../../support.ts'
import { type Json, SHOWS_FORMS, serve, TAKES_TASKS } from './calling.ts'

const agents = {
  soon: speaker('soon', 'done'),
  asks: new Agent({
    ...{ name: 'asks', register: false },
    async *run(_, { ask }) {
      yield `said ${yield* ask('q')}`
    },
  }),
  fails: new Agent({
    ...{ name: 'fails', register: false },
    run() {
      throw new Error('the vault')
    },
  }),
  waits: new Agent({
    ...{ name: 'waits', register: false },
    async *run(_, { signal }) {
      yield 'begun'
      await new Promise(resolve => signal.addEventListener('abort', resolve))
    },
  }),
}
const capabilities = { ...SHOWS_FORMS, ...TAKES_TASKS }
const tools = Object.keys(agents).map(of => ({ of, taskSupport: 'required' as const }))
const served = serve({ tools, tasks: mcpTasks({ pollIntervalMs: 77 }) }, { agents, state: memoryState() })

const ask = (method: string, taskId: string, more: object = {}) =>
  served.ask(method, { taskId, ...more }, { capabilities })
const begin = async (name: string): Promise<Json> =>
  (await served.call(name, { input: 'x' }, { capabilities })).result

/** The task, once it stands so. */
async function standing(taskId: string, ...statuses: string[]): Promise<Json> {
  for (;;) {
    const { result } = await ask('tasks/get', taskId)
    if (statuses.includes(result.status)) return result
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}

describe('a task', () => {
  it('tells what it is, and what has come of it', async () => {
    const task = await begin('soon')
    expect(task).toMatchObject({ resultType: 'task', status: 'working', pollIntervalMs: 77 })
    expect([Date.parse(task.createdAt), Date.parse(task.lastUpdatedAt)]).not.toContain(Number.NaN)
    const done = await standing(task.taskId, 'completed')
    expect(done).toMatchObject({
      ...{ resultType: 'complete', taskId: task.taskId, createdAt: task.createdAt, pollIntervalMs: 77 },
      result: { content: [{ type: 'text', text: 'done' }] },
    })
    expect(done.result).not.toHaveProperty('isError')
  })

  it('that failed has a result of which a model is told', async () => {
    const { taskId } = await begin('fails')
    const done = await standing(taskId, 'completed', 'failed')
    expect([done.status, done.result.isError]).toEqual(['completed', true])
    expect(JSON.stringify(done)).not.toContain('vault')
  })

  it('asks, and goes on once it is answered', async () => {
    const { taskId } = await begin('asks')
    const { inputRequests } = await standing(taskId, 'input_required')
    expect(Object.keys(inputRequests)).toEqual(['q'])
    for (const inputResponses of [{}, { other: { action: 'accept' } }]) {
      expect((await ask('tasks/update', taskId, { inputResponses })).status).toBe(200)
      expect((await ask('tasks/get', taskId)).result.status).toBe('input_required')
    }
    for (const inputResponses of [undefined, null, [], 'x', { q: {} }]) {
      const { status, error } = await ask('tasks/update', taskId, { inputResponses })
      expect([status, error.code]).toEqual([400, -32602])
    }
    const inputResponses = { q: { action: 'accept', content: { answer: 'yes' } } }
    const updated = await ask('tasks/update', taskId, { inputResponses })
    expect(updated.result.resultType).toBe('complete')
    const { result } = await standing(taskId, 'completed')
    expect(result.content[0].text).toBe('said yes')
    // What was answered is not asked any more.
    expect((await ask('tasks/update', taskId, { inputResponses })).status).toBe(200)
  })

  it('at work is cancelled, and as often as it is asked for', async () => {
    const { taskId } = await begin('waits')
    for (let times = 0; times < 3; times++) expect((await ask('tasks/cancel', taskId)).status).toBe(200)
    expect(await standing(taskId, 'cancelled', 'completed', 'failed')).toMatchObject({ status: 'cancelled' })
  })

  it('that has ended stays as it is', async () => {
    const { taskId } = await begin('soon')
    await standing(taskId, 'completed')
    expect((await ask('tasks/cancel', taskId)).status).toBe(200)
    expect((await ask('tasks/get', taskId)).result.status).toBe('completed')
  })

  it('that waits is cancelled', async () => {
    const { taskId } = await begin('asks')
    await standing(taskId, 'input_required')
    expect((await ask('tasks/cancel', taskId)).status).toBe(200)
    expect((await ask('tasks/get', taskId)).result.status).toBe('cancelled')
  })

  it('whose question somebody does not want to answer is cancelled', async () => {
    const { taskId } = await begin('asks')
    await standing(taskId, 'input_required')
    const inputResponses = { q: { action: 'decline' } }
    expect((await ask('tasks/update', taskId, { inputResponses })).status).toBe(200)
    expect((await ask('tasks/get', taskId)).result.status).toBe('cancelled')
  })

  it('is for clients that say they take tasks, and for services that store runs', async () => {
    const { taskId } = await begin('soon')
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const { status, error } = await served.ask(method, { taskId, inputResponses: {} })
      expect([status, error.code, error.data]).toEqual([400, -32021, { requiredCapabilities: TAKES_TASKS }])
    }
    const without = serve({ tools: true }, { agents, state: memoryState() })
    expect((await without.ask('tasks/get', { taskId }, { capabilities })).status).toBe(404)
    expect((await without.call('soon', { input: 'x' }, { capabilities })).result.resultType).toBe('complete')
    const unstored = serve({ tools, tasks: mcpTasks() }, { agents, runs: { store: 'none' } })
    const { status, error } = await unstored.call('soon', { input: 'x' }, { capabilities })
    expect([status, error.data]).toEqual([400, { code: 'runs_not_stored' }])
  })
})
