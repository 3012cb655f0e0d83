// Every built-in part is on, and no optional part.
import { Agent, createHandler, MetricsExporter } from '../../src/index.ts'
import { durableObjects, durableState, worker } from '../../src/runtimes/cloudflare.ts'

const echo = new Agent({
  name: 'echo',
  async *run(input) {
    yield String(input)
  },
})

const handler = createHandler({
  agents: { echo },
  state: durableState(),
  a2a: true,
  gateway: { recovery: true },
  metricsExporter: new MetricsExporter(),
  fileUpload: true,
  rateLimit: true,
  swagger: { enabled: true },
  toolLibrary: { ping: { name: 'ping', execute: () => 'pong' } },
  admin: { authenticate: () => undefined },
})

export default { fetch: worker(handler) }

export const { ServableRun, ServableIndex, ServableGateway, ServableMetrics } = durableObjects(handler)
