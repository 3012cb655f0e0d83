/** Mastra's agent behind our interface of OpenAI. */

import { toAgent } from '../../../src/adapters/index.ts'
import { createHandler } from '../../../src/index.ts'
import { openai } from '../../../src/openai/plugin.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { agent } from './mastra-agent.ts'

const server = await serve(createHandler({ serve: [toAgent(agent)], plugins: [openai()] }), { port: 0 })
console.log(`listening ${server.url}`)
