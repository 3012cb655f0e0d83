// The Worker of the contract of webhooks. It also counts how often the objects of runs were made.
import { env } from 'cloudflare:workers'
import { durableObjects, durableState, worker } from '../../../src/runtimes/cloudflare.ts'
import { webhooksHandler, webhooksOptions } from '../../contracts/webhooks/service.ts'
import { counted, counting } from './counting.ts'

const { SETTINGS } = env as { SETTINGS?: string }
const handler = webhooksHandler(webhooksOptions(durableState(), SETTINGS))

// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default counting(worker(handler))

const { ServableRun: Run, ServableIndex, ServableGateway } = durableObjects(handler)

export { ServableGateway, ServableIndex }

export const ServableRun = counted(Run)
