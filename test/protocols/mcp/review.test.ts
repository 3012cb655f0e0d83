/** What becomes of calls whose clients leave, refuse, or send what nobody expects. */

import { afterEach, describe, expect, it, vi } from 'vitest'
import { deferred } from '../../../src/base/wake.ts'
import { platform } from '../../../src/http/platform.ts'
import { Agent, createHandler, type Handler, type HandlerOptions, memoryState } from '../../../src/index.ts'
import { type McpOptions, mcp, mcpTasks } from '../../../src/protocols/mcp/plugin.ts'
import { streamOf } from '../../../src/protocols/mcp/progress.ts'
import type { RunReader } from '../../../src/protocols/mcp/run-reader.ts'
import { ActiveCalls } from '../../../src/protocols/mcp/sessions.ts'
import { eventually } from '../../eventually.ts'

const FORMS = { elicitation: { form: {} } }
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } }

type Run = ConstructorParameters<typeof Agent>[0]['run']

function serve(run: Run, options: McpOptions, more: HandlerOptions = {}): Handler {
  const agent = new Agent({
    name: 'agent',
    description: 'Does it',
    register: false,
    run,
  })
  const plugins = [mcp(options)]
  return createHandler({
    registry: false,
    agents: { agent },
    state: memoryState(),
    plugins,
    ...more,
  })
}

/** Asks for a size, and then does `next`. */
const asking = (next: Run): Run =>
  async function* (input, options) {
    const size = yield* options.ask('size', {
      message: 'Which size?',
      schema: { type: 'string' },
    })
    yield `It is ${size}.`
    yield* next(input, options) as AsyncGenerator<string>
  }

const asks = asking(async function* () {})

/** Waits until it is stopped. */
function holding(onBegin = () => {}) {
  const stopped = deferred<void>()
  const run: Run = async function* (_, { signal }) {
    signal?.addEventListener('abort', () => stopped.resolve())
    onBegin()
    yield 'begun'
    await stopped.promise
  }
  return { run, stopped: stopped.promise }
}

interface Sent {
  readonly capabilities?: object
  readonly signal?: AbortSignal
  readonly meta?: object
}

function modern(method: string, params: object, { capabilities = {}, signal, meta }: Sent = {}): Request {
  const { name, taskId } = params as {
    readonly name?: string
    readonly taskId?: string
  }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...meta,
  }
  const headers = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    'mcp-name': name ?? taskId ?? '',
  }
  return post({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }, headers, signal)
}

function legacy(params: object, headers: Readonly<Record<string, string>> = {}): Request {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  return post(body, { 'mcp-protocol-version': '2025-11-25', ...headers })
}

function post(body: object, headers: Readonly<Record<string, string>>, signal?: AbortSignal): Request {
  const told = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  }
  return new Request('http://localhost/mcp', {
    ...{
      method: 'POST',
      headers: { ...told, ...headers },
      body: JSON.stringify(body),
    },
    ...(signal && { signal }),
  })
}

interface Told {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what is in it.
  readonly result: any
}

async function send(handler: Handler, request: Request): Promise<Told> {
  const answer = await handler(request)
  return {
    status: answer.status,
    ...((await answer.json()) as object),
  } as Told
}

const call = { name: 'agent', arguments: { input: 'A shirt' } }

const declined = (inputRequests: object) =>
  Object.fromEntries(Object.keys(inputRequests).map(key => [key, { action: 'decline' }]))

describe('a question that nobody answers', () => {
  it('cancels the run of a call', async () => {
    const handler = serve(asks, { tools: true })
    const sent = { capabilities: FORMS }
    const { requestState, inputRequests } = (await send(handler, modern('tools/call', call, sent))).result
    const inputResponses = declined(inputRequests)
    const refusing = () => modern('tools/call', { ...call, requestState, inputResponses }, sent)
    expect(await send(handler, refusing())).toMatchObject({
      status: 200,
      result: { isError: true },
    })
    expect(await send(handler, refusing())).toMatchObject({
      status: 200,
      result: { isError: true },
    })
  })

  it('cancels a task', async () => {
    const { send: ask, taskId } = await waitingTask()
    const { inputRequests } = (await ask('tasks/get')).result
    await ask('tasks/update', { inputResponses: declined(inputRequests) })
    expect(await ask('tasks/get')).toMatchObject({
      result: { taskId, status: 'cancelled' },
    })
  })

  it('is gone with a task that is cancelled', async () => {
    const { send: ask, taskId } = await waitingTask()
    await ask('tasks/cancel')
    expect(await ask('tasks/get')).toMatchObject({
      result: { taskId, status: 'cancelled' },
    })
  })
})

/** A task that asks something. */
async function waitingTask() {
  const handler = serve(asks, {
    tools: [{ of: 'agent', taskSupport: 'required' }],
    tasks: mcpTasks(),
  })
  const sent = { capabilities: { ...TASKS, ...FORMS } }
  const { taskId } = (await send(handler, modern('tools/call', call, sent))).result as { taskId: string }
  const ask = (method: string, more: object = {}) => send(handler, modern(method, { taskId, ...more }, sent))
  await eventually(async () => {
    expect(await ask('tasks/get')).toMatchObject({
      result: { status: 'input_required' },
    })
  })
  return { send: ask, taskId }
}

describe('a client that leaves', () => {
  it.each(['required', 'optional'] as const)(
    'cancels a task that it does not know yet: %s',
    async support => {
      const gone = new AbortController()
      const { run, stopped } = holding(() => gone.abort())
      const handler = serve(run, {
        tools: [{ of: 'agent', taskSupport: support }],
        tasks: mcpTasks(),
      })
      const sent = { capabilities: TASKS, signal: gone.signal }
      // Nobody reads the answer.
      void Promise.resolve(handler(modern('tools/call', call, sent))).catch(() => {})
      await stopped
    },
  )

  it('keeps a Worker at work until its task is cancelled', async () => {
    const gone = new AbortController()
    const { run, stopped } = holding(() => gone.abort())
    const handler = serve(run, { tools: true, tasks: mcpTasks({ afterMs: 60_000 }) })
    const kept: Promise<unknown>[] = []
    const waitUntil = (promise: Promise<unknown>) => void kept.push(promise)
    const sent = { capabilities: TASKS, signal: gone.signal }
    void Promise.resolve(handler(modern('tools/call', call, sent), platform({ waitUntil }))).catch(() => {})
    await eventually(() => expect(kept).toHaveLength(1))
    await kept[0]
    await stopped
  })

  it('cancels what goes on after an answer that it has given beforehand', async () => {
    const gone = new AbortController()
    const { run, stopped } = holding(() => gone.abort())
    const handler = serve(asking(run), {
      tools: true,
      tasks: mcpTasks({ afterMs: 60_000 }),
    })
    const inputResponses = {
      size: { action: 'accept', content: { answer: 'M' } },
    }
    const sent = { capabilities: { ...TASKS, ...FORMS }, signal: gone.signal }
    void Promise.resolve(handler(modern('tools/call', { ...call, inputResponses }, sent))).catch(() => {})
    await stopped
  })
})

describe('a client that cancels a call of its session', () => {
  it.each(['cancel', 'continue'] as const)('ends the run where leaving says `%s`', async disconnect => {
    const { run, stopped } = holding()
    const handler = serve(run, { tools: true }, { runs: { disconnect } })
    const session = { 'mcp-session-id': 'session' }
    const answer = await handler(legacy({ ...call, _meta: { progressToken: 1 } }, session))
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
    expect((await handler(post(cancelled, session))).status).toBe(202)
    await stopped
    await answer.text()
  })
})

describe('what a client chooses', () => {
  it.each([
    ['a long text', 'x'.repeat(1001)],
    ['no text and no number', { deep: [] }],
    ['nothing', null],
  ])('is repeated as a token of progress unless it is %s', async (_, progressToken) => {
    const handler = serve(async () => 'done', { tools: true })
    const answer = await handler(modern('tools/call', call, { meta: { progressToken } }))
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(await answer.text()).not.toContain('notifications/progress')
  })

  it('cancels the later one of two calls of one id', async () => {
    const sessions = new ActiveCalls()
    const request = new Request('http://localhost/', {
      headers: { 'mcp-session-id': 'a' },
    })
    const cancel = vi.fn()
    const end = sessions.track(request, 1, () => {})
    sessions.track(request, 1, cancel)
    end()
    sessions.cancel(request, 1)
    await eventually(() => expect(cancel).toHaveBeenCalledOnce())
  })
})

describe('a call that takes hours', () => {
  afterEach(() => void vi.useRealTimers())

  it('keeps nothing of what it has told', async () => {
    vi.useFakeTimers()
    const end = deferred<object>()
    const waits = vi.spyOn(end.promise, 'then')
    const reading = { changes: 0, news: '', isClosed: false } as RunReader
    const told: string[] = []
    const source = streamOf({
      reading,
      last: end.promise,
      token: 1,
      asked: [],
      leave: () => {},
    })
    source.read(message => {
      told.push(message ?? 'end')
      return message !== undefined
    })
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(told.length).toBeGreaterThan(700)
    expect(waits).toHaveBeenCalledOnce()
    end.resolve({ result: 'done' })
    await eventually(() => expect(told.slice(-2)).toEqual(['data: {"result":"done"}\n\n', 'end']))
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a conversation that is gone', () => {
  afterEach(() => void vi.useRealTimers())

  it('is told to the model', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const handler = serve(asks, { tools: true }, { runs: { retentionMs: 1000, waitingMs: 1000 } })
    const { result } = await send(handler, legacy(call))
    const [, sessionId] = /`sessionId` `([^`]+)`/.exec(result.content[0].text) ?? []
    vi.setSystemTime(Date.now() + 60_000)
    const again = legacy({ name: 'agent', arguments: { input: 'M', sessionId } })
    // To clients of those revisions 404 says that their session is over.
    expect(await send(handler, again)).toMatchObject({ status: 200, result: { isError: true } })
  })
})

it('tells for how long a task is kept where a deployment says that of each run', async () => {
  const tools = [{ of: 'agent', taskSupport: 'required' }] as const
  const runs = { retentionMs: ({ name }: { readonly name: string }) => (name === 'agent' ? 1234 : 1) }
  const handler = serve(async () => 'done', { tools, tasks: mcpTasks() }, { runs })
  const sent = { capabilities: TASKS }
  const { result } = await send(handler, modern('tools/call', call, sent))
  expect(result).toMatchObject({ ttlMs: 1234 })
  const { taskId } = result
  expect((await send(handler, modern('tasks/get', { taskId }, sent))).result).toMatchObject({ ttlMs: 1234 })
})
