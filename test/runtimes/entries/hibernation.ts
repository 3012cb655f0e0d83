// The gateway's Worker. It also counts how often its object was made. Its variables select the gateway's settings.
import { env } from 'cloudflare:workers'
import type { GatewayOptions } from '../../../src/index.ts'
import { durableObjects, durableState, worker } from '../../../src/runtimes/cloudflare.ts'
import { handlerOn } from '../../contracts/gateway/service.ts'
import { counted, counting } from './counting.ts'

const { RECOVERY, AUTHENTICATE, TOKENS } = env as {
  RECOVERY?: string
  AUTHENTICATE?: string
  TOKENS?: string
}

const authenticate: GatewayOptions['authenticate'] = async ({ auth }) => {
  // Waits like a call to another service, so that the client is admitted in a later turn.
  await new Promise(resolve => setTimeout(resolve, 1))
  return typeof auth.user === 'string' ? { id: auth.user } : undefined
}

// The middleware of `scoped` knows tokens.
const handler = handlerOn(durableState({ gateways: 1 }), TOKENS === 'on' ? 'scoped' : 'usual', {
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
