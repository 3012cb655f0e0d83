import { durableObjects, durableState, type WorkerFetch, worker } from '../../../src/runtimes/cloudflare.ts'
import { metricsHandler, metricsOptions } from '../../contracts/metrics/service.ts'

const handler = metricsHandler(metricsOptions(durableState({ gateways: 2, metrics: 3 })))

const entry: { fetch: WorkerFetch } = { fetch: worker(handler) }
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry

export const { ServableRun, ServableIndex, ServableGateway, ServableMetrics } = durableObjects(handler)
