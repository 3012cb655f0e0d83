import { env } from 'cloudflare:workers'
import { durableObjects, durableState, type WorkerFetch, worker } from '../../../src/runtimes/cloudflare.ts'
import { gatewayHandler, gatewayOptions, type SettingsName } from '../../contracts/gateway/service.ts'

const { SETTINGS } = env as { SETTINGS?: SettingsName }
// Limits for all clients together need a single object.
const handler = gatewayHandler(
  gatewayOptions(durableState({ gateways: SETTINGS === 'narrow' ? 1 : 3 }), SETTINGS),
)

const entry: { fetch: WorkerFetch } = { fetch: worker(handler) }
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry

export const { ServableRun, ServableIndex, ServableGateway } = durableObjects(handler)
