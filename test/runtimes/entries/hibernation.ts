// The gateway's Worker, with a look at how often its object was made.
import { durableObjects, durableState, worker } from '../../../src/runtimes/cloudflare.ts'
import { gatewayHandler, gatewayOptions } from '../../contracts/gateway/service.ts'
import { counted, counting } from './counting.ts'

const options = {
  ...gatewayOptions(durableState({ gateways: 1 }), 'usual'),
  gateway: { recovery: true, limits: { pingInterval: 1500, pingTimeout: 1000 } },
}

// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default counting(worker(gatewayHandler(options)))

const { ServableRun, ServableIndex, ServableGateway: Gateway } = durableObjects(options)

export { ServableIndex, ServableRun }

export const ServableGateway = counted(Gateway)
