/** The runner of CopilotKit's runtime, in a stand-in for that runtime, over the handler of a service. */
import type { AbstractAgent, BaseEvent, RunAgentInput } from '@ag-ui/client'
import { HttpAgent } from '@ag-ui/client'
import { describe, expect, it } from 'vitest'
import {
  Agent,
  createHandler,
  type Handler,
  type HandlerOptions,
  memoryState,
  textOf,
} from '../../../src/index.ts'
import { agUi } from '../../../src/protocols/ag-ui/plugin.ts'
import {
  ServableAgent,
  type ServableRunner,
  type ServableRunnerOptions,
  servableRunner,
} from '../../../src/protocols/ag-ui-client/index.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { identify } from '../../contracts/identify.ts'
import { eventually } from '../../eventually.ts'

const ORIGIN = 'http://service.test'

type Events = ReturnType<AbstractAgent['run']>

/** What CopilotKit's runtime demands of its runner. */
abstract class AgentRunner {
  abstract run(request: { threadId: string; agent: AbstractAgent; input: RunAgentInput }): Events
  abstract connect(request: { threadId: string; agentId?: string; headers?: Record<string, string> }): Events
  abstract isRunning(request: { threadId: string }): Promise<boolean>
  abstract stop(request: { threadId: string; runId?: string }): Promise<boolean | undefined>
}

/** A service with an agent that says a word, and then waits for its turn. */
function serviceWith(options: HandlerOptions = { state: memoryState(), runs: { disconnect: 'continue' } }) {
  const waiting = new Map<string, () => void>()
  const left: string[] = []
  const talks = new Agent({
    name: 'talks',
    register: false,
    async *run(input, { signal }) {
      const what = textOf(input)
      signal.addEventListener('abort', () => void left.push(what))
      yield `${what}: one `
      await new Promise<void>(resolve => {
        waiting.set(what, resolve)
        signal.addEventListener('abort', () => resolve())
      })
      yield 'two.'
    },
  })
  const quick = new Agent({ name: 'quick', register: false, run: input => `You said ${textOf(input)}` })
  const notes = new Agent({
    name: 'notes',
    register: false,
    steering: true,
    async *run(input, { steering }) {
      yield `${textOf(input)}: `
      await new Promise<void>(resolve => void waiting.set(textOf(input), resolve))
      for (const message of yield* steering.take()) yield `noted ${textOf(message.input)}.`
    },
  })
  const handler = createHandler({
    serve: [talks, quick, notes],
    registry: false,
    middleware: [identify],
    plugins: [agUi()],
    logger: false,
    ...options,
  })
  const go = async (what: string) => {
    await eventually(() => expect(waiting.has(what)).toBe(true))
    waiting.get(what)?.()
  }
  return { handler, go, left, waiting }
}

const fetchOf = (handler: Handler) => async (url: string, init: RequestInit) =>
  handler(new Request(url, init))

/** One process of the runtime, which passes the headers of its pages on. */
class Runtime {
  readonly agents: Record<string, HttpAgent>
  readonly runner: ServableRunner

  constructor(handler: Handler, options: Partial<ServableRunnerOptions> = {}) {
    const agentOf = (name: string) =>
      new ServableAgent({ url: `${ORIGIN}/api/agents/${name}/ag-ui`, fetch: fetchOf(handler) } as never)
    const names = ['talks', 'quick', 'notes', 'gone']
    this.agents = Object.fromEntries(names.map(name => [name, agentOf(name)]))
    const credentials = ({ headers }: Request): Record<string, string> => {
      const user = headers.get('x-test-user')
      return user ? { 'x-test-user': user } : {}
    }
    this.runner = servableRunner({ agents: this.agents, credentials, ...options })
  }

  /** A page sends a message. */
  run(threadId: string, text: string, { who = 'ann', agentId = 'talks', steers = false } = {}): Read {
    const agent: HttpAgent = (this.agents[agentId] ?? this.agents.gone!).clone()
    Object.assign(agent.headers, { 'x-test-user': who })
    const message = { id: `m-${text}`, role: 'user' as const, content: text }
    const forwardedProps = steers ? { concurrency: 'steer' } : {}
    const input = { ...bare(threadId), runId: `run-${text}`, messages: [message], forwardedProps }
    agent.setMessages(input.messages)
    agent.threadId = threadId
    const runner: AgentRunner = this.runner
    return read(runner.run({ threadId, agent, input }))
  }

  /** A page is loaded. */
  connect(threadId: string, { who = 'ann', agentId = 'talks' } = {}): Read {
    return read(this.runner.connect({ threadId, agentId, headers: { 'x-test-user': who } }))
  }

  /** A page sends a request to stop. Undefined if the runtime has to answer it itself. */
  async asksToStop(
    threadId: string,
    {
      who = 'ann',
      runId = '',
      agentId = 'talks',
    }: { who?: string; runId?: string | undefined; agentId?: string } = {},
  ) {
    const init = jsonRequest(runId === '' ? {} : { runId }, { 'x-test-user': who })
    const request = new Request('http://runtime.test/', init)
    const route = { method: 'agent/stop', agentId, threadId }
    const thrown = await Promise.resolve(this.runner.hooks.onBeforeHandler({ request, route })).catch(
      answer => answer,
    )
    return thrown instanceof Response ? { status: thrown.status, ...(await thrown.json()) } : thrown
  }
}

const bare = (threadId: string): RunAgentInput => ({
  threadId,
  runId: '',
  messages: [],
  tools: [],
  context: [],
  state: {},
  forwardedProps: {},
})

interface Read {
  readonly events: BaseEvent[]
  readonly ended: Promise<void>
  /** What the assistant has said in all. */
  text(): string
  leave(): void
}

function read(events$: Events): Read {
  const events: BaseEvent[] = []
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  const subscription = events$.subscribe({
    next: event => void events.push(event),
    error: reject,
    complete: resolve,
  })
  const ofUsers = new Set<unknown>()
  const textIn = (event: BaseEvent) => {
    if (event.role === 'user') ofUsers.add(event.messageId)
    if (event.type === 'TEXT_MESSAGE_CONTENT') return ofUsers.has(event.messageId) ? [] : [event.delta]
    if (event.type !== 'MESSAGES_SNAPSHOT') return []
    const messages = event.messages as { role: string; content?: string }[]
    return messages.filter(({ role }) => role === 'assistant').map(({ content = '' }) => content)
  }
  const text = () => events.flatMap(textIn).join('')
  return { events, ended, text, leave: () => subscription.unsubscribe() }
}

const says = (one: Read, text: string) => eventually(() => expect(one.text()).toBe(text))
const last = ({ events }: Read) => events.at(-1)

describe('a page of CopilotKit', () => {
  it('has the whole answer once, after a reload in the middle too', async () => {
    const { handler, go, left } = serviceWith()
    const runtime = new Runtime(handler)
    const first = runtime.run('t', 'hi')
    await says(first, 'hi: one ')
    first.leave()
    // The runtime was restarted meanwhile.
    const second = new Runtime(handler).connect('t')
    await says(second, 'hi: one ')
    await go('hi')
    await second.ended
    expect(second.text()).toBe('hi: one two.')
    expect([last(second)?.type, left]).toEqual(['RUN_FINISHED', []])
    const third = runtime.connect('t')
    await third.ended
    expect(third.text()).toBe('hi: one two.')
  })

  it('gets nothing of an unknown thread, of somebody else, or of an agent that keeps none', async () => {
    const { handler, go } = serviceWith()
    const runtime = new Runtime(handler)
    const own = runtime.run('t', 'hi')
    await go('hi')
    await own.ended
    Object.assign(runtime.agents, { stock: new HttpAgent({ url: `${ORIGIN}/api/agents/talks/ag-ui` }) })
    for (const other of [
      runtime.connect('unknown'),
      runtime.connect('t', { who: 'bob' }),
      runtime.connect('t', { agentId: 'stock' }),
      runtime.connect('t', { agentId: 'constructor' }),
    ]) {
      await other.ended
      expect(other.events).toEqual([])
    }
  })

  it('may send a second message to a busy thread, which the service lets wait', async () => {
    const { handler, go } = serviceWith()
    const runtime = new Runtime(handler)
    const first = runtime.run('t', 'a')
    await says(first, 'a: one ')
    const second = runtime.run('t', 'b')
    await go('a')
    await first.ended
    await go('b')
    await second.ended
    expect([first.text(), second.text()]).toEqual(['a: one two.', 'b: one two.'])
  })

  it('may steer the run at work', async () => {
    const { handler, go } = serviceWith()
    const runtime = new Runtime(handler)
    const first = runtime.run('t', 'a', { agentId: 'notes' })
    await says(first, 'a: ')
    const second = runtime.run('t', 'b', { agentId: 'notes', steers: true })
    await says(second, 'a: ')
    await go('a')
    await Promise.all([first.ended, second.ended])
    expect([first.text(), second.text()]).toEqual(['a: noted b.', 'a: noted b.'])
    // The other page is told the message, with the id that its own page gave it.
    expect(first.events).toContainEqual(expect.objectContaining({ role: 'user', messageId: 'm-b' }))
  })

  it('is told why there is no run', async () => {
    const { handler } = serviceWith({ state: memoryState(), limits: { maxBodyBytes: 2000 } })
    const runtime = new Runtime(handler)
    const gone = runtime.run('t', 'hi', { agentId: 'gone' })
    await gone.ended
    expect(gone.events).toEqual([
      { type: 'RUN_ERROR', code: 'agent_not_found', message: 'There is no agent named `gone`' },
    ])
    const attached = runtime.connect('t', { agentId: 'gone' })
    await attached.ended
    expect(last(attached)).toMatchObject({ code: 'agent_not_found' })
    expect(await runtime.runner.stop({ threadId: 't' })).toBe(false)
  })

  it('has what the middleware of the runtime makes of the events', async () => {
    const { handler } = serviceWith()
    const runtime = new Runtime(handler)
    const seen: string[] = []
    runtime.agents.quick?.use((input, next) => {
      seen.push(input.threadId)
      return next.run(input)
    })
    const one = runtime.run('t', 'hi', { agentId: 'quick' })
    await one.ended
    expect([one.text(), seen]).toEqual(['You said hi', ['t']])
  })
})

describe('stop', () => {
  it('ends the run of the page, and no other', async () => {
    const { handler, left } = serviceWith()
    const runtime = new Runtime(handler)
    const { runner } = runtime
    const [one, other] = [runtime.run('t', 'a'), runtime.run('other', 'c')]
    await Promise.all([says(one, 'a: one '), says(other, 'c: one ')])
    const waits = runtime.run('t', 'b')
    expect(await runner.stop({ threadId: 't', runId: 'run-a' })).toBe(true)
    await one.ended
    expect(last(one)?.type).toBe('RUN_FINISHED')
    // The message that waited has its turn.
    await says(waits, 'b: one ')
    expect(left).toEqual(['a'])
    expect(await runner.stop({ threadId: 't', runId: 'run-a' })).toBe(false)
    expect(await runner.stop({ threadId: 't', runId: 'run-b' })).toBe(true)
    await waits.ended
    expect(left).toEqual(['a', 'b'])
    expect(await runner.stop({ threadId: 'other' })).toBe(true)
    await other.ended
  })

  it('ends a message that waits in the line', async () => {
    const { handler, go, waiting } = serviceWith()
    const runtime = new Runtime(handler)
    const one = runtime.run('t', 'a')
    await says(one, 'a: one ')
    const waits = runtime.run('t', 'b')
    await eventually(async () => expect(await atWork(handler, 't')).toBe(2))
    expect(await runtime.runner.stop({ threadId: 't', runId: 'run-b' })).toBe(true)
    await waits.ended
    await go('a')
    await one.ended
    expect(one.text()).toBe('a: one two.')
    expect(waiting.has('b')).toBe(false)
  })

  it('ends what was begun elsewhere, once a page has attached', async () => {
    const { handler, left } = serviceWith()
    const elsewhere = new Runtime(handler).run('t', 'a')
    await says(elsewhere, 'a: one ')
    const runtime = new Runtime(handler)
    expect(await runtime.runner.stop({ threadId: 't' })).toBe(false)
    expect(await runtime.runner.isRunning({ threadId: 't' })).toBe(false)
    const page = runtime.connect('t')
    await says(page, 'a: one ')
    // Nobody else changes in whose name it is stopped.
    await runtime.connect('t', { who: 'bob' }).ended
    expect(await runtime.runner.isRunning({ threadId: 't' })).toBe(true)
    expect(await runtime.runner.stop({ threadId: 't' })).toBe(true)
    await Promise.all([page.ended, elsewhere.ended])
    expect(left).toEqual(['a'])
    expect(await runtime.runner.isRunning({ threadId: 't' })).toBe(false)
    expect(await runtime.runner.stop({ threadId: 't' })).toBe(false)
  })

  it('ends a run that nothing stores, by leaving it', async () => {
    const { handler, left } = serviceWith({})
    const runtime = new Runtime(handler)
    const one = runtime.run('t', 'a')
    await says(one, 'a: one ')
    expect(await runtime.runner.isRunning({ threadId: 't' })).toBe(true)
    expect(await runtime.runner.stop({ threadId: 't', runId: 'run-a' })).toBe(true)
    await one.ended
    await eventually(() => expect(left).toEqual(['a']))
    expect(await runtime.runner.isRunning({ threadId: 't' })).toBe(false)
  })

  it('knows the newest threads', async () => {
    const { handler } = serviceWith()
    const runtime = new Runtime(handler, { maxThreads: 2 })
    const reads = ['a', 'b', 'c'].map(name => runtime.run(`of-${name}`, name))
    await Promise.all(reads.map((each, at) => says(each, `${'abc'[at]}: one `)))
    const stopped = (name: string) => runtime.runner.stop({ threadId: `of-${name}` })
    expect([await stopped('a'), await stopped('b'), await stopped('c')]).toEqual([false, true, true])
    for (const each of reads) each.leave()
  })

  it('keeps no id that the service refuses', async () => {
    const { handler } = serviceWith()
    const runtime = new Runtime(handler)
    const long = 't'.repeat(501)
    const one = runtime.run(long, 'a')
    await one.ended
    expect(last(one)).toMatchObject({ type: 'RUN_ERROR', code: 'invalid_body' })
    expect(await runtime.runner.stop({ threadId: long })).toBe(false)
  })
})

describe('a request to stop', () => {
  it('counts in the name of whoever sent it, in any process', async () => {
    const { handler, left } = serviceWith()
    const first = new Runtime(handler)
    const own = first.run('t', 'a')
    const others = first.run('t', 'b', { who: 'bob' })
    await Promise.all([says(own, 'a: one '), says(others, 'b: one ')])
    const runtime = new Runtime(handler)
    const none = { status: 200, stopped: false, message: expect.any(String) }
    expect(await first.asksToStop('t', { who: 'eve' })).toEqual(none)
    expect(await first.asksToStop('t', { who: 'eve', runId: 'run-a' })).toEqual(none)
    expect(await runtime.asksToStop('t', { who: 'eve', runId: 'run-a' })).toEqual(none)
    expect(left).toEqual([])
    expect(await runtime.asksToStop('t')).toEqual({ status: 200, stopped: true })
    await own.ended
    expect(left).toEqual(['a'])
    expect(await first.asksToStop('t', { who: 'bob', runId: 'run-b' })).toEqual({
      status: 200,
      stopped: true,
    })
    await others.ended
  })

  it('has the authorization of its page, and first what the agent itself has', async () => {
    const asked: (string | null)[] = []
    const fetch = async (url: string, init: RequestInit) => {
      asked.push(new Request(url, init).headers.get('authorization'))
      return Response.json({ runs: [] })
    }
    const url = `${ORIGIN}/api/teams/pair/ag-ui`
    const agents = {
      page: new ServableAgent({ url, fetch } as never),
      own: new ServableAgent({ url, fetch, headers: { Authorization: 'Bearer own' } } as never),
    }
    const { hooks } = servableRunner({ agents })
    for (const agentId of ['page', 'own']) {
      const request = new Request('http://runtime.test/', jsonRequest({}, { authorization: 'Bearer page' }))
      await hooks
        .onBeforeHandler({ request, route: { method: 'agent/stop', agentId, threadId: 't' } })
        .catch(() => {})
    }
    expect(asked).toEqual(['Bearer page', 'Bearer own'])
  })

  it('ends a run that nothing stores, for its own page alone', async () => {
    const { handler, left } = serviceWith({})
    const runtime = new Runtime(handler)
    const one = runtime.run('t', 'a')
    await says(one, 'a: one ')
    const stopped = async (who: string, runId?: string) =>
      (await runtime.asksToStop('t', { who, runId })).stopped
    expect([await stopped('eve', 'run-a'), await stopped('', 'run-a'), await stopped('ann')]).toEqual([
      false,
      false,
      false,
    ])
    expect([await stopped('ann', 'run-a'), last(one)?.type]).toEqual([true, 'TEXT_MESSAGE_CONTENT'])
    await one.ended
    await eventually(() => expect(left).toEqual(['a']))
  })

  it('is answered by the runtime if it is none, or of another agent', async () => {
    const { handler } = serviceWith()
    const runtime = new Runtime(handler)
    expect(await runtime.asksToStop('t', { agentId: 'constructor' })).toBeUndefined()
    const request = new Request('http://runtime.test/', { method: 'POST', body: '{"runId":1}' })
    const route = { method: 'agent/stop', agentId: 'talks', threadId: 't' }
    expect(await runtime.runner.hooks.onBeforeHandler({ request, route })).toBeUndefined()
    const run = { method: 'agent/run', agentId: 'talks' }
    expect(await runtime.runner.hooks.onBeforeHandler({ request, route: run })).toBeUndefined()
  })

  it('says that the service cannot be reached', async () => {
    const runtime = new Runtime((async () => {
      throw new TypeError('away')
    }) as never)
    expect(await runtime.asksToStop('t')).toMatchObject({ status: 502, error: 'Failed to stop agent' })
  })
})

async function atWork(handler: Handler, sessionId: string): Promise<number> {
  const url = `${ORIGIN}/api/runs?sessionId=${sessionId}&status=running`
  const { runs } = await (await handler(new Request(url, { headers: { 'x-test-user': 'ann' } }))).json()
  return runs.length
}
