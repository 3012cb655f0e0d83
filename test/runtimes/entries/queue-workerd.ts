import { env } from 'cloudflare:workers'
import { durableObjects, durableState, type WorkerFetch, worker } from '../../../src/runtimes/cloudflare.ts'
import { queueHandler, queueOptions } from '../../contracts/queue/service.ts'

const { SETTINGS } = env as { SETTINGS?: string }
const handler = queueHandler(queueOptions(durableState(), SETTINGS))

const entry: { fetch: WorkerFetch } = { fetch: worker(handler) }
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry

export const { ServableRun, ServableIndex, ServableGateway } = durableObjects(handler)
