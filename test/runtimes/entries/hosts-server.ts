/** What the servers of the tests of hosts have in common: no authentication, and in development keys for this machine. */
import process from 'node:process'
import { callerKeys } from '../../../src/features/keys/plugin.ts'
import { Agent, createHandler, type Handler } from '../../../src/index.ts'
import { mcp } from '../../../src/protocols/mcp/plugin.ts'

export const handler: Handler = createHandler({
  agents: { echo: new Agent({ name: 'echo', register: false, run: () => 'x' }) },
  logger: false,
  gateway: true,
  a2a: { default: 'echo' },
  rateLimit: { max: 200 },
  allowedHosts: ['tunnel.example'],
  plugins: [mcp({ tools: true }), ...(process.env.NODE_ENV === 'development' ? [callerKeys()] : [])],
})
