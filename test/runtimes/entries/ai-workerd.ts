import { env } from 'cloudflare:workers'
import { durableObjects, durableState, type WorkerFetch, worker } from '../../../src/runtimes/cloudflare.ts'
import { aiHandler, aiOptions } from '../../contracts/ai/service.ts'

const { SETTINGS } = env as { readonly SETTINGS: string }
const handler = aiHandler(aiOptions(durableState(), SETTINGS))

const entry: { fetch: WorkerFetch } = { fetch: worker(handler) }
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry

export const { ServableRun, ServableIndex, ServableGateway, ServableMetrics } = durableObjects(handler)
