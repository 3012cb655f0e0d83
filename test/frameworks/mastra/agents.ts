import { join } from 'node:path'
import process from 'node:process'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Agent } from '@mastra/core/agent'
import { Mastra } from '@mastra/core/mastra'
import { InMemoryStore } from '@mastra/core/storage'
import { createTool } from '@mastra/core/tools'
import { LibSQLStore } from '@mastra/libsql'
import { Memory } from '@mastra/memory'
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

const get_weather = createTool({
  id: 'get_weather',
  description: 'The weather in a city',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => weatherIn(city),
})

const memory = new Memory({ storage: new InMemoryStore(), options: { lastMessages: 10 } })
const common = { instructions: 'Be short', model: modelFor('given'), maxRetries: 2 }
const main = new Agent({
  ...common,
  id: 'main',
  name: 'main',
  description: 'Tells the weather',
  tools: { get_weather },
  memory,
})
const structured = new Agent({
  ...common,
  id: 'structured',
  name: 'structured',
  defaultOptions: { structuredOutput: { schema: z.object({ city: z.string() }) } },
})

const refund = createTool({
  id: 'refund',
  description: 'Gives money back',
  inputSchema: z.object({ order: z.string() }),
  requireApproval: true,
  execute: async ({ order }) => `refunded ${order}`,
})
const pick_color = createTool({
  id: 'pick_color',
  description: 'Asks for a color',
  inputSchema: z.object({ hue: z.string() }),
  suspendSchema: z.object({ message: z.string() }),
  resumeSchema: z.object({ color: z.string() }),
  async execute({ hue }, { agent }) {
    const { color } = agent?.resumeData ?? {}
    if (color !== undefined) return `${color} for ${hue}`
    return agent?.suspend({ message: `Which color for ${hue}?` })
  },
})
const tools = { get_weather, refund, pick_color }
const shopFor = (apiKey: string, name = 'shop') =>
  new Agent({ ...common, id: 'shop', name, model: modelFor(apiKey), tools, memory })
const storage = new LibSQLStore({
  id: 'runs',
  url: `file:${join(process.env.STATE_FOLDER ?? '', 'mastra.db')}`,
})
const kept = (shop: Agent, store: typeof storage | InMemoryStore = storage) => {
  new Mastra({ agents: { shop }, storage: store, logger: false })
  return shop
}

export const agents = [
  toAgent(kept(shopFor('given'))),
  toAgent(kept(shopFor('given')), {
    name: 'keyed-shop',
    forRun: ({ apiKey }) => apiKey && kept(shopFor(apiKey)),
  }),
  toAgent(shopFor('given', 'bare-shop')),
  toAgent(kept(shopFor('given', 'forgetful-shop'), new InMemoryStore())),
  toAgent(main),
  toAgent(structured),
  toAgent(main, {
    name: 'keyed',
    forRun: ({ apiKey }) =>
      apiKey && new Agent({ ...common, id: 'keyed', name: 'keyed', model: modelFor(apiKey) }),
  }),
]
