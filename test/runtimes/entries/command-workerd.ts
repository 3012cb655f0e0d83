import { durableObjects, durableState, type WorkerFetch, worker } from '../../../src/runtimes/cloudflare.ts'
import { commandHandler } from '../../contracts/command/service.ts'

const handler = commandHandler(durableState())

const entry: { fetch: WorkerFetch } = { fetch: worker(handler) }
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry

export const { ServableRun, ServableIndex } = durableObjects(handler)
