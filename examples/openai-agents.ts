/** An agent of OpenAI's Agents SDK behind a handler: `npm install @openai/agents zod`. */
import { Agent, MemorySession, run, tool } from '@openai/agents'
import { z } from 'zod'
import { toAgent } from '../src/adapters/frameworks/index.ts'
import { createHandler } from '../src/index.ts'

const weather = new Agent({
  name: 'weather',
  handoffDescription: 'Tells the weather',
  instructions: 'Answer in one sentence.',
  model: 'gpt-5-mini',
  tools: [
    tool({
      name: 'get_weather',
      description: 'The weather in a city',
      parameters: z.object({ city: z.string() }),
      execute: ({ city }) => `It is sunny in ${city}`,
    }),
  ],
})

// These sessions last as long as the process. A session over a database outlives it.
const sessions = new Map<string, MemorySession>()

function sessionOf(thread: string): MemorySession {
  const session = sessions.get(thread) ?? new MemorySession({ sessionId: thread })
  sessions.set(thread, session)
  return session
}

export const handler = createHandler({ serve: [toAgent(weather, { run, session: sessionOf })] })
