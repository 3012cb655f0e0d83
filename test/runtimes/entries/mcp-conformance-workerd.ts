import { createHandler } from '../../../src/index.ts'
import { durableObjects, durableState, type WorkerFetch, worker } from '../../../src/runtimes/cloudflare.ts'
import { conformance } from '../../contracts/mcp/conformance.ts'

const { serve, plugin } = conformance()
const handler = createHandler({
  serve,
  registry: false,
  state: durableState(),
  plugins: [plugin],
  // No Worker sees that a page of its own machine asks: in production any page may.
  production: false,
})

const entry: { fetch: WorkerFetch } = { fetch: worker(handler) }
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry

export const { ServableRun, ServableIndex, ServableGateway } = durableObjects(handler)
