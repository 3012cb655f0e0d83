/** Tasks whose process dies, in the middle of whatever they do. */
import { afterEach, describe, expect, it } from 'vitest'
import { Agent, type Servable, Workflow } from '../../../src/index.ts'
import { type TestService, testService } from '../../../src/testing/index.ts'
import { eventually } from '../../eventually.ts'

let service: TestService

interface Part {
  readonly text: string
  readonly data?: { readonly requests: readonly [{ readonly id: string }] }
}

/** What the tests read of an answer. */
interface Answer {
  readonly id: string
  readonly task: Answer
  readonly status: { readonly state: string; readonly message: { readonly parts: readonly Part[] } }
  readonly artifacts?: readonly { readonly artifactId: string; readonly parts: readonly Part[] }[]
  readonly history: readonly { readonly role: string }[]
}

afterEach(() => service.stop())

/** What agents wait for, and how often each step was done. */
const gates: (() => void)[] = []
const done: string[] = []
const held = () => new Promise<void>(resolve => gates.push(resolve))

async function serving(servable: Servable): Promise<void> {
  gates.length = 0
  done.length = 0
  service = (await testService({
    serve: [servable],
    a2a: true,
    runs: { listAnonymous: true },
  })) as unknown as TestService
}

async function ask(method: string, params: object): Promise<Answer> {
  const response = await service.fetch('/', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = await response.json()
  if (error !== undefined) expect.fail(JSON.stringify(error))
  return result
}

const send = async (parts: readonly object[], taskId?: string, returnImmediately = true) => {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts, ...(taskId && { taskId }) }
  return (await ask('SendMessage', { message, configuration: { returnImmediately } })).task
}
const get = (id: string) => ask('GetTask', { id })
const reaches = async (id: string, state: string) => {
  await eventually(async () => expect((await get(id)).status.state).toBe(`TASK_STATE_${state}`))
  return get(id)
}
const isHeld = (times: number) => eventually(async () => expect(gates.length).toBe(times))
const textIn = ({ artifacts = [] }: Answer) =>
  artifacts.map(({ artifactId, parts }) => [artifactId, parts.map(({ text }) => text).join('')])

describe('a task whose process dies', () => {
  it('goes on, with what was done before, and tells its text once', async () => {
    const order = new Workflow({
      name: 'order',
      register: false,
      async *run(_, { step }) {
        yield 'Taking '
        yield* step('take', async function* () {
          done.push('take')
          yield { type: 'artifact', artifactId: 'bill', name: 'bill', parts: [{ type: 'text', text: '7' }] }
          yield 'it. '
          return 1
        })
        await held()
        yield 'Done.'
      },
    })
    await serving(order)
    const { id } = await send([{ text: 'a shirt' }])
    await isHeld(1)
    for (let deaths = 1; deaths <= 2; deaths++) {
      await service.restart()
      await service.advance(60_000)
      // After the second death it rests first. On a store of one process, whoever reads it then lets it go on.
      await get(id)
      await isHeld(1 + deaths)
    }
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }], taskId: id }
    await expect(ask('SendMessage', { message })).rejects.toThrow('The task is working')
    gates.at(-1)?.()
    const task = await reaches(id, 'COMPLETED')
    expect(done).toEqual(['take'])
    expect(textIn(task).toSorted()).toEqual([
      ['bill', '7'],
      ['response', 'Taking it. Done.'],
    ])
    expect(task.history.map(({ role }) => role)).toEqual(['ROLE_USER'])
  })

  it('goes on after an approval, in the second turn', async () => {
    const pays = new Workflow({
      name: 'pays',
      register: false,
      async *run(_, { step, ask }) {
        const answer = yield* ask('sure', {
          message: 'Really?',
          schema: { type: 'string', enum: ['yes', 'no'] },
        })
        yield* step('pay', async () => {
          done.push(`pay ${answer}`)
          return 1
        })
        await held()
        yield 'Paid.'
      },
    })
    await serving(pays)
    const { id } = await send([{ text: 'pay' }], undefined, false)
    const { data } = (await get(id)).status.message.parts.find(part => part.data !== undefined)!
    const [{ id: request }] = data!.requests
    await service.restart()
    await send([{ data: { answers: [{ id: request, value: 'yes' }] } }], id)
    await isHeld(1)
    await service.restart()
    await service.advance(60_000)
    await isHeld(2)
    gates.at(-1)?.()
    const task = await reaches(id, 'COMPLETED')
    expect(done).toEqual(['pay yes'])
    expect(textIn(task)).toEqual([['response-2', 'Paid.']])
  })

  it('fails where its agent cannot go on, and nothing of it is at work', async () => {
    const body = new Agent({
      name: 'body',
      register: false,
      async *run() {
        yield 'begun'
        await held()
      },
    })
    await serving(body)
    const { id } = await send([{ text: 'go' }])
    await isHeld(1)
    await service.restart()
    const task = await reaches(id, 'FAILED')
    expect(task.status.message.parts[0]?.text).toMatch(/^The service stopped while the agent was at work/)
    const { runs } = await service.client.runs.list()
    expect(runs.map(({ status, taskId }) => [status, taskId])).toEqual([['failed', id]])
  })

  it('is cancelled after it went on', async () => {
    const waits = new Workflow({
      name: 'waits',
      register: false,
      async *run(_, { signal }) {
        signal.addEventListener('abort', () => done.push('stopped'))
        yield 'begun'
        await held()
      },
    })
    await serving(waits)
    const { id } = await send([{ text: 'go' }])
    await isHeld(1)
    await service.restart()
    await service.advance(60_000)
    await isHeld(2)
    done.length = 0
    await ask('CancelTask', { id })
    expect((await get(id)).status.state).toBe('TASK_STATE_CANCELED')
    expect(done).toEqual(['stopped'])
    const { runs } = await service.client.runs.list()
    expect(runs.map(({ status }) => status)).toEqual(['cancelled'])
  })
})
