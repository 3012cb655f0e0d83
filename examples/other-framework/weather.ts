import process from 'node:process'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ToolLoopAgent, tool } from 'ai'
import { z } from 'zod'

const {
  OPENAI_BASE_URL = 'https://api.openai.com/v1',
  OPENAI_API_KEY = '',
  MODEL = 'gpt-5-mini',
} = process.env

/** An agent of the AI SDK. Nothing in this file knows that it is served. */
export const makeWeather = (apiKey: string = OPENAI_API_KEY) =>
  new ToolLoopAgent({
    id: 'weather',
    model: createOpenAICompatible({ name: 'openai', baseURL: OPENAI_BASE_URL, apiKey, includeUsage: true })(
      MODEL,
    ),
    instructions: 'Answer in one sentence.',
    tools: {
      get_weather: tool({
        description: 'The weather in a city',
        inputSchema: z.object({ city: z.string() }),
        execute: ({ city }) => `It is sunny in ${city}`,
      }),
    },
  })
