import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { AIMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import {
  Annotation,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { createReactAgent, ToolNode } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent, humanInTheLoopMiddleware } from 'langchain'
import { z } from 'zod'
import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import type { Middleware } from '../../../src/index.ts'
import { langGraph } from '../../../src/protocols/langgraph-api/plugin.ts'
import { weatherIn } from '../weather.ts'
import { FileSaver } from './file-saver.ts'
import { threads } from './threads.ts'

const modelFor = (apiKey: string) =>
  new ChatOpenAI({
    model: 'test',
    apiKey,
    maxRetries: 2,
    configuration: { baseURL: process.env.MODEL_URL ?? '' },
  })

const get_weather = tool(async ({ city }) => JSON.stringify(weatherIn(city)), {
  name: 'get_weather',
  description: 'The weather in a city',
  schema: z.object({ city: z.string() }),
})

const graphFor = (apiKey: string) =>
  createReactAgent({
    name: 'main',
    llm: modelFor(apiKey),
    tools: [get_weather],
    checkpointer: new MemorySaver(),
  })

const structured = createReactAgent({
  name: 'structured',
  llm: modelFor('given'),
  tools: [],
  responseFormat: z.object({ city: z.string() }),
})

const Approval = Annotation.Root({ ...MessagesAnnotation.spec })
const asking = new StateGraph(Approval)
  .addNode('ask', () => {
    const answer: string = interrupt('Shall I?')
    return { messages: [{ role: 'ai', content: `You answered ${answer}` }] }
  })
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile({ checkpointer: new MemorySaver(), name: 'asking' })

const nested = new StateGraph(MessagesAnnotation)
  .addNode('inner', graphFor('given'))
  .addEdge(START, 'inner')
  .compile({ name: 'nested' })

const refund = tool(async ({ order }) => `refunded ${order}`, {
  name: 'refund',
  description: 'Gives money back',
  schema: z.object({ order: z.string() }),
})
const checkpointer = new FileSaver(join(process.env.STATE_FOLDER ?? '', 'threads.json'))
// Its types do not fit `exactOptionalPropertyTypes`.
const middlewareFor = humanInTheLoopMiddleware as unknown as (options: object) => never
const shopFor = (apiKey: string) =>
  createAgent({
    name: 'shop',
    model: modelFor(apiKey),
    tools: [get_weather, refund],
    middleware: [middlewareFor({ interruptOn: { refund: true } })],
    checkpointer,
  }).graph

const questions = new StateGraph(MessagesAnnotation)
  .addNode('one', () => ({ messages: [{ role: 'ai', content: `One ${interrupt('one?')}. ` }] }))
  .addNode('two', () => {
    const size: string = interrupt({ message: 'two?', schema: { type: 'string' } })
    return { messages: [{ role: 'ai', content: `Two ${size}. ` }] }
  })
  .addEdge(START, 'one')
  .addEdge(START, 'two')
const twice = new StateGraph(MessagesAnnotation)
  .addNode('ask', () => ({
    messages: [{ role: 'ai', content: `${interrupt('pay 1?')}, ${interrupt('pay 1000?')}` }],
  }))
  .addEdge(START, 'ask')
  .compile({ checkpointer, name: 'twice' })
/** Their threads are in our state. */
const ours = questions.compile({ name: 'ours' })
const unkept = questions.compile({ checkpointer: false, name: 'unkept' })
const forgetful = questions.compile({ checkpointer: new MemorySaver(), name: 'forgetful' })

/** What nodes did, one line each, in a file that outlives the process. */
const did = (what: string) => appendFileSync(join(process.env.STATE_FOLDER ?? '', 'done'), `${what}\n`)
const look_up = tool(
  async ({ at }) => {
    did(`look_up ${at}`)
    return `found ${at}`
  },
  { name: 'look_up', description: 'Looks up', schema: z.object({ at: z.string() }) },
)
const steps = new StateGraph(MessagesAnnotation)
  .addNode('one', ({ messages }) => {
    did('one')
    const at = messages.at(-1)?.text ?? ''
    const tool_calls = [{ type: 'tool_call' as const, id: `call of ${at}`, name: 'look_up', args: { at } }]
    return { messages: [new AIMessage({ content: 'One. ', tool_calls })] }
  })
  .addNode('tools', new ToolNode([look_up]))
  .addNode('asks', ({ messages }) => {
    const isAsked = messages.some(({ text }) => text.startsWith('ask'))
    return { messages: isAsked ? [new AIMessage(`${interrupt('Go on?')}. `)] : [] }
  })
  .addNode('last', async () => {
    did('last')
    const [file] = [join(process.env.STATE_FOLDER ?? '', 'go')]
    while (!existsSync(file)) await new Promise(resolve => setTimeout(resolve, 20))
    return { messages: [new AIMessage('Done.')] }
  })
  .addEdge(START, 'one')
  .addEdge('one', 'tools')
  .addEdge('tools', 'asks')
  .addEdge('asks', 'last')

/** Two nodes of one step, of which one waits. */
const beside = new StateGraph(MessagesAnnotation)
  .addNode('early', () => {
    did('early')
    return { messages: [new AIMessage('Early. ')] }
  })
  .addNode('last', async () => {
    did('last')
    const file = join(process.env.STATE_FOLDER ?? '', 'go')
    while (!existsSync(file)) await new Promise(resolve => setTimeout(resolve, 20))
    return { messages: [new AIMessage('Last.')] }
  })
  .addEdge(START, 'early')
  .addEdge(START, 'last')
  .compile({ name: 'beside' })

/** A state with more than messages, and a graph inside that remembers how often it was called. */
const Counted = Annotation.Root({
  ...MessagesAnnotation.spec,
  seen: Annotation<Set<string>>({ reducer: (a, b) => new Set([...a, ...b]), default: () => new Set() }),
})
const counting = new StateGraph(Annotation.Root({ ...Counted.spec, calls: Annotation<number> }))
  .addNode('count', ({ calls = 0 }) => ({ calls: calls + 1, seen: new Set([`call ${calls + 1}`]) }))
  .addEdge(START, 'count')
  .compile({ checkpointer: true, name: 'counting' })
const remembering = new StateGraph(Counted)
  .addNode('counting', counting)
  .addNode('say', ({ messages, seen }) => ({
    messages: [new AIMessage(`${messages.map(message => message.getType()).join()} ${[...seen].join()}`)],
  }))
  .addEdge(START, 'counting')
  .addEdge('counting', 'say')
  .compile({ name: 'remembering' })

export const agents = [
  toAgent(steps.compile({ checkpointer, name: 'steps' })),
  toAgent(steps.compile({ checkpointer: new MemorySaver(), name: 'steps-forgotten' })),
  toAgent(shopFor('given')),
  toAgent(shopFor('given'), { name: 'keyed-shop', forRun: ({ apiKey }) => apiKey && shopFor(apiKey) }),
  toAgent(questions.compile({ checkpointer, name: 'questions' })),
  toAgent(twice),
  toAgent(unkept),
  toAgent(ours),
  toAgent(steps.compile({ name: 'our-steps' })),
  toAgent(remembering),
  toAgent(beside),
  toAgent(forgetful),
  toAgent(nested),
  toAgent(graphFor('given'), { description: 'Tells the weather' }),
  toAgent(structured),
  toAgent(asking),
  toAgent(graphFor('given'), { name: 'keyed', forRun: ({ apiKey }) => apiKey && graphFor(apiKey) }),
]

export const plugins = [threads, sessions(), langGraph()]

/** Trusts a header. */
const identify: Middleware = (request, context, next) => {
  const id = request.headers.get('x-test-user')
  if (id !== null) context.identity = { id }
  return next()
}
export const middleware = [identify]
