/** An agent of Mastra behind a handler: `npm install @mastra/core @mastra/memory zod`. */
import process from 'node:process'
import { Agent } from '@mastra/core/agent'
import { InMemoryStore } from '@mastra/core/storage'
import { createTool } from '@mastra/core/tools'
import { Memory } from '@mastra/memory'
import { z } from 'zod'
import { toAgent } from '../src/adapters/frameworks/index.ts'
import { createHandler } from '../src/index.ts'

const url = process.env.OPENAI_BASE_URL ?? 'https://api.openai.com/v1'

const weather = new Agent({
  id: 'weather',
  name: 'weather',
  description: 'Tells the weather',
  instructions: 'Answer in one sentence.',
  model: { id: 'openai/gpt-5-mini', url, apiKey: process.env.OPENAI_API_KEY ?? '' },
  tools: {
    get_weather: createTool({
      id: 'get_weather',
      description: 'The weather in a city',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => `It is sunny in ${city}`,
    }),
  },
  // A run's `sessionId` is a thread of this memory.
  memory: new Memory({ storage: new InMemoryStore() }),
})

export const handler = createHandler({ serve: [toAgent(weather)] })
