/** Mastra's agent behind our interfaces of OpenAI, the AI SDK and MCP. */

import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import { createHandler } from '../../../src/index.ts'
import { aiSdkUi } from '../../../src/protocols/ai-sdk-ui/plugin.ts'
import { mcp } from '../../../src/protocols/mcp/plugin.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { agent } from './mastra-agent.ts'

const plugins = [openai(), aiSdkUi(), mcp({ tools: ['echo'] })]
const server = await serve(createHandler({ serve: [toAgent(agent)], plugins }), { port: 0 })
console.log(`listening ${server.url}`)
