import { durableObjects, durableState, type WorkerFetch, worker } from '../../../src/runtimes/cloudflare.ts'
import { guardsHandler, guardsOptions } from '../../contracts/guards/service.ts'

const handler = guardsHandler(guardsOptions(durableState()))

const entry: { fetch: WorkerFetch } = { fetch: worker(handler) }
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry

export const { ServableRun, ServableIndex, ServableGateway } = durableObjects(handler)
