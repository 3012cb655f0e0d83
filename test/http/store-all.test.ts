/** Which runs are stored: the option `runs.store`, and its default. */
import { describe, expect, it } from 'vitest'
import {
  Agent,
  createHandler,
  type HandlerOptions,
  type LogEntry,
  memoryState,
  type State,
  textOf,
} from '../../src/index.ts'
import { agUi } from '../../src/protocols/ag-ui/plugin.ts'
import { aiSdkUi } from '../../src/protocols/ai-sdk-ui/plugin.ts'
import { mcp } from '../../src/protocols/mcp/plugin.ts'
import { openai } from '../../src/protocols/openai/plugin.ts'
import type { RunSummary } from '../../src/runs/stored/record.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { identify } from '../contracts/identify.ts'
import { lateState } from '../contracts/store/late.ts'

function serving(runs: NonNullable<HandlerOptions['runs']>, state: State = memoryState()) {
  const stopped: unknown[] = []
  const logged: LogEntry[] = []
  const handler = createHandler({
    agents: {
      echo: new Agent({ name: 'echo', register: false, run: input => textOf(input) }),
      thinks: new Agent({
        name: 'thinks',
        register: false,
        async *run() {
          yield { type: 'thinking', text: 'a secret thought' }
          yield { type: 'tool_call_start', toolCall: { id: 'c', name: 'look' } }
          yield { type: 'tool_call_ready', toolCallId: 'c', args: { of: 'a secret argument' } }
          yield { type: 'tool_call_end', toolCallId: 'c', result: 'seen' }
          yield 'done'
        },
      }),
      brief: new Agent({
        name: 'brief',
        register: false,
        answers: 'message',
        async *run() {
          yield { type: 'message', parts: [{ type: 'text', text: 'hello' }] }
        },
      }),
      failing: new Agent({
        name: 'failing',
        register: false,
        run() {
          throw new Error('the model is away')
        },
      }),
      endless: new Agent({
        name: 'endless',
        register: false,
        async *run(_, { signal }) {
          yield 'begun'
          await new Promise(resolve => signal.addEventListener('abort', resolve))
          stopped.push(signal.reason)
        },
      }),
    },
    registry: false,
    logger: entry => void logged.push(entry),
    state,
    runs: { listAnonymous: true, measure: true, ...runs },
    a2a: { default: 'echo' },
  })
  const url = 'http://127.0.0.1/api'
  const headers = { 'content-type': 'application/json' }
  const post = (path: string) =>
    handler(new Request(url + path, { method: 'POST', headers, body: '{"input":"x"}' }))
  const read = (path: string) => handler(new Request(url + path))
  const list = async (): Promise<readonly RunSummary[]> =>
    (await (await handler(new Request(`${url}/runs`))).json()).runs
  /** Asks a method of A2A: by default for a task of an agent. */
  const ask = async (agent: string, configuration?: object, method = 'SendMessage', given?: object) => {
    const message = {
      messageId: crypto.randomUUID(),
      role: 'ROLE_USER',
      parts: [{ text: 'x' }],
      metadata: { agentName: agent },
    }
    const params = given ?? { message, configuration }
    const request = new Request('http://127.0.0.1/', {
      method: 'POST',
      headers: { ...headers, 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return (await (await handler(request)).json()).result
  }
  return { read, post, list, ask, stopped, logged }
}

it('plain runs leave nothing with `asked`', async () => {
  const { post, list } = serving({ store: 'asked' })
  await (await post('/agents/echo/run')).text()
  expect(await list()).toEqual([])
})

it('lists have every run, with how it was asked for', async () => {
  const { post, list } = serving({ store: 'all' })
  expect(await (await post('/agents/echo/run')).json()).toMatchObject({ text: 'x', finishReason: 'stop' })
  expect(await (await post('/agents/echo/stream')).text()).toContain('"finish"')
  expect((await list()).map(({ status, transport }) => [status, transport])).toEqual([
    ['completed', 'sse'],
    ['completed', 'http'],
  ])
})

it('a run still ends when its client leaves', async () => {
  const { post, list, stopped } = serving({ store: 'all' })
  const reader = (await post('/agents/endless/stream')).body!.getReader()
  await reader.read()
  await reader.cancel()
  await expect.poll(async () => (await list()).map(({ status }) => status)).toEqual(['cancelled'])
  expect(stopped).toHaveLength(1)
})

it.each([
  ['in memory', memoryState],
  ['that answers late', lateState],
])(
  'lists of a store %s have each turn of an A2A task once it has ended, and not before `all`',
  async (_, makeState) => {
    for (const store of ['asked', 'all'] as const) {
      const { ask, list } = serving({ store }, makeState())
      const { task } = await ask('echo')
      const taskId = task.id
      if (store === 'asked') expect(await list()).toEqual([])
      else await expect.poll(list).toMatchObject([{ status: 'completed', taskId, sessionId: task.contextId }])
    }
  },
)

it('turns of A2A tasks have titles, and are found, where inputs are kept', async () => {
  for (const keepInput of [true, false]) {
    const { ask, list } = serving({ store: 'all', keepInput })
    await ask('echo')
    await expect.poll(list).toMatchObject([{ status: 'completed' }])
    expect('title' in (await list())[0]!).toBe(keepInput)
  }
})

it('lists have a bare message, which is of no task', async () => {
  const { ask, list } = serving({ store: 'all' })
  expect((await ask('brief')).message).toBeDefined()
  await expect.poll(list).toMatchObject([{ name: 'brief', status: 'completed' }])
  expect((await list())[0]).not.toHaveProperty('taskId')
})

it('lists have a turn that failed, and one that was cancelled', async () => {
  const { ask, list } = serving({ store: 'all' })
  await ask('failing')
  await expect.poll(list).toMatchObject([{ status: 'failed', error: { code: 'agent_failed' } }])
  const { task } = await ask('endless', { returnImmediately: true })
  await ask('endless', undefined, 'CancelTask', { id: task.id })
  await expect.poll(async () => (await list()).map(({ status }) => status)).toEqual(['cancelled', 'failed'])
})

it('lists have a turn at work, whose run cancels its task', async () => {
  const { ask, list, read, post } = serving({ store: 'all' })
  const { task } = await ask('endless', { returnImmediately: true })
  const [run] = await list()
  expect(run).toMatchObject({
    status: 'running',
    taskId: task.id,
    sessionId: task.contextId,
    name: 'endless',
  })
  expect((await read(`/runs/${run!.id}`)).status).toBe(200)
  expect((await post(`/runs/${run!.id}/cancel`)).status).toBe(200)
  expect((await ask('endless', undefined, 'GetTask', { id: task.id })).status.state).toBe(
    'TASK_STATE_CANCELED',
  )
  expect(await list()).toMatchObject([{ id: run!.id, status: 'cancelled', taskId: task.id }])
})

it('a task is no run, and the run of its turn tells its client nothing that the task does not', async () => {
  const { ask, list, read } = serving({ store: 'all' })
  const { task } = await ask('thinks')
  for (const path of ['', '/events', '/stream']) {
    expect((await read(`/runs/${task.id}${path}`)).status).toBe(404)
  }
  const [run] = await list()
  const told = await Promise.all(
    ['/events', '/stream', '?include=input'].map(path => read(`/runs/${run!.id}${path}`)),
  )
  const texts = await Promise.all(told.map(response => response.text()))
  for (const text of [JSON.stringify(task), texts[0], texts[1]])
    expect(text).not.toMatch(/secret (thought|argument)/)
  expect(JSON.parse(texts[0]!).events.map(({ event }: { event: { type: string } }) => event.type)).toEqual([
    'finish',
  ])
})

it('a task stays whole when the records of its runs leave', async () => {
  const { ask, list } = serving({ store: 'all' }, memoryState({ maxRuns: 2 }))
  const { task } = await ask('echo')
  for (let count = 0; count < 250; count++) await ask('echo')
  expect((await list()).map(({ taskId }) => taskId)).not.toContain(task.id)
  const { artifacts, history, status } = await ask('echo', undefined, 'GetTask', { id: task.id })
  expect(status.state).toBe('TASK_STATE_COMPLETED')
  expect([artifacts, history]).toEqual([task.artifacts, task.history])
})

it('runs that cannot be stored are plain', async () => {
  const handler = createHandler({
    agents: { echo: new Agent({ name: 'echo', register: false, run: input => String(input) }) },
    registry: false,
    logger: false,
    runs: { store: 'all' },
  })
  const request = new Request('http://127.0.0.1/api/agents/echo/run', jsonRequest({ input: 'x' }))
  // A platform whose requests share no memory.
  const { platform } = await import('../../src/http/platform.ts')
  expect(await (await handler(request, platform({ isIsolated: true }))).json()).toMatchObject({ text: 'x' })
})

describe('with a state', () => {
  /** Asks every route by which a run begins, as ada or as nobody. */
  async function asked(options: Partial<HandlerOptions>, who?: string) {
    const echo = new Agent({ name: 'echo', register: false, run: input => textOf(input) })
    const handler = createHandler({
      serve: [echo],
      registry: false,
      middleware: [identify],
      plugins: [openai(), agUi(), aiSdkUi({ agent: 'echo' }), mcp({ tools: true })],
      ...options,
    })
    const send = (path: string, body: object, more = {}) =>
      handler(
        new Request(
          `http://127.0.0.1${path}`,
          jsonRequest(body, { ...(who && { 'x-test-user': who }), ...more }),
        ),
      )
    const said = [{ role: 'user', content: 'x', id: '1', parts: [{ type: 'text', text: 'x' }] }]
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'echo', arguments: { input: 'x' } },
    }
    const sent = [
      ['/api/agents/echo/run', { input: 'x' }],
      ['/api/agents/echo/stream', { input: 'x' }],
      ['/v1/chat/completions', { model: 'echo', messages: [{ role: 'user', content: 'x' }] }],
      ['/v1/responses', { model: 'echo', input: 'x' }],
      ['/v1/responses', { model: 'echo', input: 'x', store: false }],
      [
        '/api/agents/echo/ag-ui',
        { threadId: 't', runId: 'r', messages: said, tools: [], context: [], state: {} },
      ],
      ['/api/chat', { id: 'c', messages: said, trigger: 'submit-message' }],
      ['/mcp', call, { accept: 'application/json, text/event-stream' }],
    ] as const
    for (const [path, body, more] of sent) {
      const answer = await send(path, body, more)
      await answer.text()
      expect([path, answer.status]).toEqual([path, 200])
    }
    const path = '/api/runs?limit=100'
    const list = await handler(
      new Request(`http://127.0.0.1${path}`, { headers: who ? { 'x-test-user': who } : {} }),
    )
    const { runs } = (await list.json()) as { runs: RunSummary[] }
    const inputs = await Promise.all(
      runs.map(async ({ id }) => {
        const url = `http://127.0.0.1/api/runs/${id}?include=input`
        const read = await handler(new Request(url, { headers: who ? { 'x-test-user': who } : {} }))
        return ((await read.json()) as { input?: unknown }).input !== undefined
      }),
    )
    return { runs, inputs }
  }

  it('every run is stored with its numbers, whatever it was asked by, but not what must leave nothing', async () => {
    const { runs, inputs } = await asked({ state: memoryState() }, 'ada')
    expect(runs.map(({ transport }) => transport).toSorted()).toEqual([
      'ag-ui',
      'ai-sdk-ui',
      'http',
      'mcp',
      'openai',
      'openai',
      'sse',
    ])
    for (const { durationMs, status } of runs)
      expect([status, typeof durationMs]).toEqual(['completed', 'number'])
    expect(inputs).toEqual(runs.map(() => true))
  })

  it('the input of a run without an identity is not kept, unless its client asks for that', async () => {
    const { runs, inputs } = await asked({ state: memoryState(), runs: { listAnonymous: true } })
    expect(runs).toHaveLength(7)
    // OpenAI's responses are kept with their input.
    expect(inputs.filter(isKept => isKept)).toHaveLength(1)
  })

  it.each([
    ['`keepInput` is false', { runs: { keepInput: false } }, 7, 1],
    ["`store` is 'asked'", { runs: { store: 'asked' as const } }, 1, 1],
    ["`store` is 'none'", { runs: { store: 'none' as const } }, 0, 0],
  ])('it keeps less where %s', async (_, options, stored, kept) => {
    const { runs, inputs } = await asked({ state: memoryState(), ...options }, 'ada')
    expect([runs.length, inputs.filter(isKept => isKept).length]).toEqual([stored, kept])
  })

  it('only what is asked for is stored without one', async () => {
    const { runs, inputs } = await asked({}, 'ada')
    expect([runs.length, inputs]).toEqual([1, [true]])
  })
})
