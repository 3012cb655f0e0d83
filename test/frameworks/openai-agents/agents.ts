import process from 'node:process'
import {
  Agent,
  MemorySession,
  OpenAIChatCompletionsModel,
  OpenAIProvider,
  Runner,
  RunState,
  run,
  setDefaultOpenAIClient,
  tool,
} from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'
import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import { weatherIn } from '../weather.ts'

const clientFor = (apiKey: string) => new OpenAI({ apiKey, baseURL: process.env.MODEL_URL })
setDefaultOpenAIClient(clientFor('given'))

const get_weather = tool({
  name: 'get_weather',
  description: 'The weather in a city',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => weatherIn(city),
})

const sessions = new Map<string, MemorySession>()
const sessionOf = (thread: string) => {
  const session = sessions.get(thread) ?? new MemorySession({ sessionId: thread })
  sessions.set(thread, session)
  return session
}

const common = { instructions: 'Be short', model: 'test', handoffDescription: 'Tells the weather' }
const main = new Agent({ ...common, name: 'main', tools: [get_weather] })
const chat = new Agent({
  ...common,
  name: 'chat',
  model: new OpenAIChatCompletionsModel(clientFor('given'), 'test'),
  tools: [get_weather],
})
const structured = new Agent({ ...common, name: 'structured', outputType: z.object({ city: z.string() }) })
const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: clientFor('given') }) })

const refund = tool({
  name: 'refund',
  description: 'Gives money back',
  parameters: z.object({ order: z.string() }),
  needsApproval: true,
  execute: ({ order }) => `refunded ${order}`,
})
const shopFor = (apiKey: string) =>
  new Agent({
    ...common,
    name: 'shop',
    model: new OpenAIChatCompletionsModel(clientFor(apiKey), 'test'),
    tools: [get_weather, refund],
  })
const keeping = { run, session: sessionOf, RunState }

export const agents = [
  toAgent(shopFor('given'), keeping),
  toAgent(shopFor('given'), {
    ...keeping,
    name: 'keyed-shop',
    forRun: ({ apiKey }) => apiKey && shopFor(apiKey),
  }),
  toAgent(shopFor('given'), { name: 'forgetful-shop', run }),
  toAgent(main, { run, session: sessionOf }),
  toAgent(chat, { run, session: sessionOf }),
  toAgent(structured, { run: runner }),
  toAgent(main, {
    name: 'keyed',
    run,
    forRun: ({ apiKey }) =>
      apiKey &&
      new Agent({
        ...common,
        name: 'keyed',
        model: new OpenAIChatCompletionsModel(clientFor(apiKey), 'test'),
      }),
  }),
]
