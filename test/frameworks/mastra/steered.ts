import process from 'node:process'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Agent } from '@mastra/core/agent'
import { Mastra } from '@mastra/core/mastra'
import { InMemoryStore } from '@mastra/core/storage'
import { createTool } from '@mastra/core/tools'
import { z } from 'zod'
import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import { steeredHandler } from '../steered.ts'
import { weatherIn } from '../weather.ts'

const baseURL = process.env.MODEL_URL ?? ''
const model = createOpenAICompatible({ name: 'local', baseURL, apiKey: 'given' })('test')

export const handler = steeredHandler(steer => {
  const get_weather = createTool({
    id: 'get_weather',
    description: 'The weather in a city',
    inputSchema: z.object({ city: z.string() }),
    async execute({ city }) {
      await steer()
      return weatherIn(city)
    },
  })
  const refund = createTool({
    id: 'refund',
    description: 'Gives money back',
    inputSchema: z.object({ order: z.string() }),
    requireApproval: true,
    execute: async ({ order }) => `refunded ${order}`,
  })
  const tools = { get_weather, refund }
  const agent = new Agent({ id: 'steered', name: 'steered', instructions: 'Be short', model, tools })
  new Mastra({ agents: { steered: agent }, storage: new InMemoryStore(), logger: false })
  return toAgent(agent)
})
