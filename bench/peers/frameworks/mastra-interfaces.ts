/** Mastra's server with its AI SDK and MCP interfaces, set up as in the documentation of their packages. */

import { serve } from '@hono/node-server'
import { chatRoute } from '@mastra/ai-sdk'
import { Mastra } from '@mastra/core/mastra'
import { type HonoBindings, type HonoVariables, MastraServer } from '@mastra/hono'
import { MCPServer } from '@mastra/mcp'
import { Hono } from 'hono'
import { agent } from './mastra-agent.ts'

const app = new Hono<{ Bindings: HonoBindings; Variables: HonoVariables }>()
const tools = new MCPServer({
  id: 'tools',
  name: 'bench',
  version: '1.0.0',
  agents: { echo: agent },
  tools: {},
})
const mastra = new Mastra({
  agents: { echo: agent },
  mcpServers: { tools },
  server: { apiRoutes: [chatRoute({ path: '/chat/:agentId', version: 'v6' })] },
  logger: false,
})
await new MastraServer({ app, mastra }).init()
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`listening http://127.0.0.1:${port}`)
})
