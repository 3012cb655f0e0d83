import { durableObjects, durableState, worker } from '../../../src/runtimes/cloudflare.ts'
import { handlerOver } from './plugin-server.ts'

const handler = handlerOver(durableState())

const entry: { fetch: ReturnType<typeof worker> } = { fetch: worker(handler) }
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry

export const { ServableRun, ServableIndex } = durableObjects(handler)
