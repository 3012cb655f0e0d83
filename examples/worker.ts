// In your own project: `servable` and `servable/cloudflare`. Here the sources, so that no build is needed.
import { createHandler, type HandlerOptions, MetricsExporter } from '../src/index.ts'
import { durableObjects, durableState, worker, workerAssets } from '../src/runtimes/cloudflare.ts'
// By name: a bundler may drop an import for its effect alone (package.json: `sideEffects`).
import * as agents from './agents.ts'

const options: HandlerOptions = {
  cors: true,
  serve: Object.values(agents),
  state: durableState(),
  a2a: { default: 'echo' },
  gateway: { recovery: true },
  metricsExporter: new MetricsExporter(),
  fileUpload: true,
  swagger: { enabled: true, assets: workerAssets() },
  toolkits: [{ name: 'arithmetic', description: 'Sums and products', tools: agents.calculator.tools }],
}

export default { fetch: worker(createHandler(options)) }

export const { ServableRun, ServableIndex, ServableGateway, ServableMetrics } = durableObjects(options)
