import process from 'node:process'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Agent, createTool, InMemoryStorageAdapter, Memory } from '@voltagent/core'
import { z } from 'zod'
import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import { weatherIn } from '../weather.ts'

const modelFor = (apiKey: string) =>
  createOpenAICompatible({
    name: 'local',
    baseURL: process.env.MODEL_URL ?? '',
    apiKey,
    includeUsage: true,
  })('test')

const get_weather = createTool({
  name: 'get_weather',
  description: 'The weather in a city',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => weatherIn(city),
})

const common = { instructions: 'Be short', model: modelFor('given'), maxRetries: 2 }
const main = new Agent({
  ...common,
  name: 'main',
  purpose: 'Tells the weather',
  tools: [get_weather],
  memory: new Memory({ storage: new InMemoryStorageAdapter() }),
})

const refund = createTool({
  name: 'refund',
  description: 'Gives money back',
  parameters: z.object({ order: z.string() }),
  needsApproval: true,
  execute: async ({ order }) => `refunded ${order}`,
})
const shopMemory = new Memory({ storage: new InMemoryStorageAdapter() })
const shopFor = (apiKey: string) =>
  new Agent({
    ...common,
    name: 'shop',
    model: modelFor(apiKey),
    tools: [get_weather, refund],
    memory: shopMemory,
  })

export const agents = [
  toAgent(shopFor('given')),
  toAgent(shopFor('given'), { name: 'keyed-shop', forRun: ({ apiKey }) => apiKey && shopFor(apiKey) }),
  toAgent(main),
  toAgent(main, {
    name: 'keyed',
    forRun: ({ apiKey }) => apiKey && new Agent({ ...common, name: 'keyed', model: modelFor(apiKey) }),
  }),
]
