/** Checks of other clients: `RemoteGraph` of LangGraph, and the agent of AG-UI. */
import { LangGraphAgent } from '@ag-ui/langgraph'
import { Command, isGraphInterrupt } from '@langchain/langgraph'
import { RemoteGraph } from '@langchain/langgraph/remote'
import {
  brief,
  type Check,
  errorOf,
  type How,
  isUuid,
  type Message,
  messagesOf,
  said,
  textOf,
  until,
  type Way,
} from './way.ts'

/** These bring a line of the SDK of their own. */
const ONCE: How = { lines: ['sdk-1.12'] }

const graphOf = ({ server }: Way, graphId: string) =>
  new RemoteGraph({ graphId, url: server.url, apiKey: 'ann' })

const inThread = (thread: string) => ({ configurable: { thread_id: thread } })

/** Messages of the client have getters. */
const flat = (values: unknown): readonly Message[] =>
  messagesOf(values).map(each => {
    const { type, getType, content } = each as Message & { getType?: () => string }
    return { ...each, type: type ?? getType?.call(each) ?? '', content }
  })

/** An event of AG-UI. */
interface Told {
  readonly type: string
  readonly name?: string
  readonly delta?: string
  readonly value?: unknown
  readonly content?: string
  readonly toolCallName?: string
  readonly message?: string
}

/** A run of an agent, with its events. */
async function ran(agent: LangGraphAgent, parameters: object = {}): Promise<readonly Told[]> {
  const told: Told[] = []
  const onEvent = ({ event }: { readonly event: unknown }) => void told.push(event as Told)
  await agent.runAgent(parameters as never, { onEvent } as never)
  return told
}

const agentOf = ({ server }: Way, graphId: string, threadId: string = crypto.randomUUID()) =>
  new LangGraphAgent({ graphId, deploymentUrl: server.url, langsmithApiKey: 'ann', threadId } as never)

const tell = (agent: LangGraphAgent, content: string) =>
  agent.addMessage({ id: crypto.randomUUID(), role: 'user', content })

const textIn = (told: readonly Told[], type: string) =>
  told
    .filter(event => event.type === type)
    .map(({ delta }) => delta)
    .join('')

/** The client puts results last that came in no event. */
const briefly = (agent: LangGraphAgent) =>
  agent.messages.map(({ role, content }) => `${role} ${textOf(content)}`.trim())

export const otherChecks: readonly Check[] = [
  [
    '37 RemoteGraph without a thread',
    async way => {
      const graph = graphOf(way, 'talks')
      way.fact('invoke', brief(flat(await graph.invoke(said('hi')))), [
        'human hi',
        'ai You said hi, message 1.',
      ])
      const values: unknown[] = []
      for await (const value of await graph.stream(said('hi'), { streamMode: 'values' })) values.push(value)
      way.fact('stream', brief(flat(values.at(-1))).at(-1), 'ai You said hi, message 1.')
      const failed = graphOf(way, 'fails').invoke(said('hi'))
      way.fact('throws', typeof (await errorOf(failed)), 'string')
      const shape = await graph.getGraphAsync()
      way.fact('graph', Object.keys(shape.nodes).includes('__start__'))
    },
    ONCE,
  ],
  [
    '37 RemoteGraph in a thread',
    async way => {
      const { fact } = way
      const graph = graphOf(way, 'talks')
      const thread = crypto.randomUUID()
      const config = inThread(thread)
      fact('makes the thread', brief(flat(await graph.invoke(said('one'), config))).length, 2)
      const modes: string[] = []
      const pieces: string[] = []
      const stream = await graph.stream(said('weather'), {
        ...config,
        streamMode: ['values', 'messages', 'updates'],
      })
      for await (const [mode, value] of stream as AsyncIterable<[string, never]>) {
        modes.push(mode)
        const [message] = mode === 'messages' ? (value as readonly Message[]) : []
        if (message?.content && typeof message.content === 'string') pieces.push(message.content)
      }
      fact('modes', [...new Set(modes)].toSorted(), ['messages', 'updates', 'values'])
      fact('pieces', pieces.join(''), '21C in ParisIt is 21C in Paris.')
      const state = await graph.getState(config)
      fact('state', brief(flat(state.values)), [
        'human one',
        'ai You said one, message 1.',
        'human weather',
        'ai',
        'tool 21C in Paris',
        'ai It is 21C in Paris.',
      ])
      fact('next', state.next, [])
      const texts: number[] = []
      for await (const each of graph.getStateHistory(config)) texts.push(messagesOf(each.values).length)
      fact('history', [texts[0], texts.includes(2), texts.at(-1)], [6, true, 0])
      const last = flat(await graph.invoke(said('three'), config)).at(-1)
      const changed = { messages: [{ type: 'ai', id: last?.id, content: 'changed' }] }
      const { configurable } = await graph.updateState(config, changed)
      fact('update', isUuid(configurable?.checkpoint_id))
      fact('updated', brief(flat((await graph.getState(config)).values)).at(-1), 'ai changed')
    },
    ONCE,
  ],
  [
    '37 RemoteGraph waits',
    async way => {
      const { fact } = way
      const graph = graphOf(way, 'asks')
      const config = inThread(crypto.randomUUID())
      let thrown: unknown
      await graph.invoke(said('shirt'), config).catch(error => {
        thrown = error
      })
      const values = (await graph.getState(config)).tasks[0]?.interrupts[0]?.value
      fact('throws an interrupt', isGraphInterrupt(thrown))
      fact('in the state', (values as { question?: string } | undefined)?.question, 'Which size?')
      const done = await graph.invoke(new Command({ resume: 'M' }), config)
      fact('resumed', brief(flat(done)).at(-1), 'ai shirt in M.')
    },
    ONCE,
  ],
  [
    '39 LangGraphAgent talks',
    async way => {
      const agent = agentOf(way, 'talks')
      tell(agent, 'one')
      const told = await ran(agent)
      way.fact('text', textIn(told, 'TEXT_MESSAGE_CONTENT'), 'You said one, message 1.')
      way.fact('messages', briefly(agent), ['user one', 'assistant You said one, message 1.'])
      tell(agent, 'two')
      const second = await ran(agent)
      way.fact('second turn', textIn(second, 'TEXT_MESSAGE_CONTENT'), 'You said two, message 2.')
      const all = [
        ...['user one', 'assistant You said one, message 1.'],
        ...['user two', 'assistant You said two, message 2.'],
      ]
      way.fact('nothing twice', briefly(agent), all)
      way.fact('nor in the thread', (await way.messages(agent.threadId)).length, 4)
      way.fact('ends', second.at(-1)?.type, 'RUN_FINISHED')
    },
    ONCE,
  ],
  [
    '39 LangGraphAgent and a tool',
    async way => {
      const agent = agentOf(way, 'talks')
      tell(agent, 'weather')
      const told = await ran(agent)
      const names = told.filter(({ type }) => type === 'TOOL_CALL_START').map(each => each.toolCallName)
      way.fact('call', names, ['get_weather'])
      way.fact('arguments', textIn(told, 'TOOL_CALL_ARGS'), '{"city":"Paris"}')
      way.fact('text', textIn(told, 'TEXT_MESSAGE_CONTENT'), 'It is 21C in Paris.')
      way.fact('messages', briefly(agent), [
        'user weather',
        'assistant',
        'assistant It is 21C in Paris.',
        'tool 21C in Paris',
      ])
    },
    ONCE,
  ],
  [
    '39 LangGraphAgent waits',
    async way => {
      const agent = agentOf(way, 'pays')
      tell(agent, '5')
      const told = await ran(agent)
      const asked = told.find(({ name }) => name === 'on_interrupt')?.value
      const value = typeof asked === 'string' ? JSON.parse(asked) : asked
      way.fact('asks', value?.action_requests?.[0]?.args, { amount: 5 })
      const again = await ran(agent)
      way.fact(
        'asks again',
        again.some(({ name }) => name === 'on_interrupt'),
      )
      const resume = { decisions: [{ type: 'approve' }] }
      const done = await ran(agent, { forwardedProps: { command: { resume } } })
      way.fact('goes on', textIn(done, 'TEXT_MESSAGE_CONTENT'), 'I have paid 5.')
      way.fact('messages', briefly(agent), ['user 5', 'assistant', 'assistant I have paid 5.', 'tool paid 5'])
    },
    ONCE,
  ],
  [
    '39 LangGraphAgent fails and stops',
    async way => {
      const agent = agentOf(way, 'fails')
      tell(agent, 'hi')
      const told: Told[] = []
      const onEvent = ({ event }: { readonly event: unknown }) => void told.push(event as Told)
      await agent.runAgent({}, { onEvent } as never).catch(() => {})
      way.fact(
        'error',
        told.some(({ type }) => type === 'RUN_ERROR'),
      )
      const slow = agentOf(way, 'slow')
      tell(slow, '100')
      const running = ran(slow).catch(() => [])
      const [run] = await until(
        () => way.client.runs.list(slow.threadId, { status: 'running' }).catch(() => []),
        runs => runs.length === 1,
      )
      await until(() => Boolean((slow as never as { activeRun?: { id?: string } }).activeRun?.id), Boolean)
      await new Promise(resolve => setTimeout(resolve, 300))
      slow.abortRun()
      await running
      const id = run?.run_id ?? ''
      const status = await until(
        () => way.runStatus(slow.threadId, id),
        each => each !== 'running',
        6000,
      )
      way.fact('stopped', status, 'interrupted')
    },
    ONCE,
  ],
]
