/** An agent of the AI SDK behind a handler: `npm install ai @ai-sdk/openai zod`. */
import { createOpenAI, openai } from '@ai-sdk/openai'
import { ToolLoopAgent, tool } from 'ai'
import { z } from 'zod'
import { toAgent } from '../src/adapters/frameworks/index.ts'
import { createHandler } from '../src/index.ts'

const tools = {
  get_weather: tool({
    description: 'The weather in a city',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => `It is sunny in ${city}`,
  }),
}
const weather = new ToolLoopAgent({ id: 'weather', model: openai('gpt-5-mini'), tools })

export const handler = createHandler({
  providers: { openai: { header: 'x-openai-api-key', matches: ['openai'] } },
  serve: [
    toAgent(weather, {
      description: 'Tells the weather',
      // A client with a key of its own pays for its own runs.
      forRun: ({ apiKey }) =>
        apiKey && new ToolLoopAgent({ model: createOpenAI({ apiKey })('gpt-5-mini'), tools }),
    }),
  ],
})
