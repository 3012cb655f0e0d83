import process from 'node:process'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Agent } from '@mastra/core/agent'
import { InMemoryStore } from '@mastra/core/storage'
import { createTool } from '@mastra/core/tools'
import { Memory } from '@mastra/memory'
import { z } from 'zod'
import { toAgent } from '../../../src/adapters/index.ts'
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

export const agents = [
  toAgent(main),
  toAgent(structured),
  toAgent(main, {
    name: 'keyed',
    forRun: ({ apiKey }) =>
      apiKey && new Agent({ ...common, id: 'keyed', name: 'keyed', model: modelFor(apiKey) }),
  }),
]
