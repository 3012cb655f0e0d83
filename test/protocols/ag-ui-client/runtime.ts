/** A stand-in for CopilotKit's runtime, and a service for it. */
import type { AbstractAgent, BaseEvent, HttpAgent, RunAgentInput } from '@ag-ui/client'
import { expect } from 'vitest'
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

export const ORIGIN = 'http://service.test'

type Events = ReturnType<AbstractAgent['run']>

/** What CopilotKit's runtime demands of its runner. */
abstract class AgentRunner {
  abstract run(request: { threadId: string; agent: AbstractAgent; input: RunAgentInput }): Events
  abstract connect(request: { threadId: string; agentId?: string; headers?: Record<string, string> }): Events
  abstract isRunning(request: { threadId: string }): Promise<boolean>
  abstract stop(request: { threadId: string; runId?: string }): Promise<boolean | undefined>
}

/** A service with an agent that says a word, and then waits for its turn. */
export function serviceWith(
  options: HandlerOptions = { state: memoryState(), runs: { disconnect: 'continue' } },
) {
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
export class Runtime {
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

export interface Read {
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

export const says = (one: Read, text: string) => eventually(() => expect(one.text()).toBe(text))
export const last = ({ events }: Read) => events.at(-1)
