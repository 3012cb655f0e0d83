import process from 'node:process'
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
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'
import { toAgent } from '../../../src/adapters/index.ts'
import { weatherIn } from '../weather.ts'

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

export const agents = [
  toAgent(nested),
  toAgent(graphFor('given'), { description: 'Tells the weather' }),
  toAgent(structured),
  toAgent(asking),
  toAgent(graphFor('given'), { name: 'keyed', forRun: ({ apiKey }) => apiKey && graphFor(apiKey) }),
]
