import { env } from 'cloudflare:workers'
import { callerKeys } from '../../../src/features/keys/plugin.ts'
import { createHandler } from '../../../src/index.ts'
import { mcp } from '../../../src/protocols/mcp/plugin.ts'
import { type WorkerFetch, worker } from '../../../src/runtimes/cloudflare.ts'
import { speaker } from '../../support.ts'

const { TRUST } = env as { readonly TRUST?: string }

const handler = createHandler({
  agents: { echo: speaker('echo', 'x') },
  logger: false,
  a2a: { default: 'echo' },
  rateLimit: { max: 200 },
  allowedHosts: ['tunnel.example'],
  plugins: [mcp({ tools: true }), ...(process.env.NODE_ENV === 'development' ? [callerKeys()] : [])],
  ...(TRUST && { trustProxy: TRUST }),
})

const entry: { fetch: WorkerFetch } = { fetch: worker(handler) }
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry
