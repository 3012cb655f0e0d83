import { durableObjects, durableState, type WorkerFetch, worker } from '../../../src/runtimes/cloudflare.ts'
import { adminHandler, adminOptions } from '../../contracts/admin/service.ts'

const handler = adminHandler(adminOptions(durableState()))

const entry: { fetch: WorkerFetch } = { fetch: worker(handler) }
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry

export const { ServableRun, ServableIndex, ServableGateway, ServableMetrics } = durableObjects(handler)
