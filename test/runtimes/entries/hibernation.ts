// The gateway's Worker, with a look at how often its object was made. Its variables say which of the gateway's settings it has.
import { env } from 'cloudflare:workers'
import type { GatewayOptions } from '../../../src/index.ts'
import { durableObjects, durableState, worker } from '../../../src/runtimes/cloudflare.ts'
import { gatewayHandler, gatewayOptions } from '../../contracts/gateway/service.ts'
import { counted, counting } from './counting.ts'

const { RECOVERY, AUTHENTICATE, TOKENS } = env as {
  RECOVERY?: string
  AUTHENTICATE?: string
  TOKENS?: string
}

const authenticate: GatewayOptions['authenticate'] = async ({ auth }) => {
  // As one that asks somebody else: the client is admitted in a later turn.
  await new Promise(resolve => setTimeout(resolve, 1))
  return typeof auth.user === 'string' ? { id: auth.user } : undefined
}

const handler = gatewayHandler({
  // With `scoped` its middleware knows tokens.
  ...gatewayOptions(durableState({ gateways: 1 }), TOKENS === 'on' ? 'scoped' : 'usual'),
  gateway: {
    recovery: RECOVERY === 'on',
    limits: { pingInterval: 1500, pingTimeout: 1000 },
    ...(AUTHENTICATE === 'on' && { authenticate }),
  },
})

// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default counting(worker(handler))

const { ServableRun, ServableIndex, ServableGateway: Gateway } = durableObjects(handler)

export { ServableIndex, ServableRun }

export const ServableGateway = counted(Gateway)
