import process from 'node:process'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Output, ToolLoopAgent, tool } from 'ai'
import { z } from 'zod'
import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import { weatherIn } from '../weather.ts'

const modelFor = (apiKey: string) =>
  createOpenAICompatible({
    name: 'local',
    baseURL: process.env.MODEL_URL ?? '',
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
  })('test')

const get_weather = tool({
  description: 'The weather in a city',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => weatherIn(city),
})

const refund = tool({
  description: 'Gives money back',
  inputSchema: z.object({ order: z.string() }),
  needsApproval: true,
  execute: ({ order }) => `refunded ${order}`,
})
const shopFor = (apiKey: string) =>
  new ToolLoopAgent({ id: 'shop', model: modelFor(apiKey), tools: { get_weather, refund } })

const main = new ToolLoopAgent({ id: 'main', model: modelFor('given'), tools: { get_weather } })
const output = Output.object({ schema: z.object({ city: z.string() }) })

export const agents = [
  toAgent(main, { description: 'Tells the weather' }),
  toAgent(new ToolLoopAgent({ id: 'structured', model: modelFor('given'), output })),
  toAgent(shopFor('given')),
  toAgent(shopFor('given'), { name: 'keyed-shop', forRun: ({ apiKey }) => apiKey && shopFor(apiKey) }),
  toAgent(main, {
    name: 'keyed',
    forRun: ({ apiKey }) => apiKey && new ToolLoopAgent({ model: modelFor(apiKey) }),
  }),
]
