// The gateway's Worker, with a look at how often its object was made.
import { durableObjects, durableState, type WorkerFetch, worker } from '../../../src/runtimes/cloudflare.ts'
import { gatewayHandler, gatewayOptions } from '../../contracts/gateway/service.ts'

const options = {
  ...gatewayOptions(durableState({ gateways: 1 }), 'usual'),
  gateway: { recovery: true, limits: { pingInterval: 1500, pingTimeout: 1000 } },
}
const serve = worker(gatewayHandler(options))

let made = 0

const entry: { fetch: WorkerFetch } = {
  fetch: (request, env, context) =>
    new URL(request.url).pathname === '/made'
      ? Promise.resolve(new Response(String(made)))
      : serve(request, env, context),
}
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry

const { ServableRun, ServableIndex, ServableGateway: Gateway } = durableObjects(options)

export { ServableIndex, ServableRun }

/** Counts how often it is made: once for each eviction, and once more. */
export class ServableGateway extends Gateway {
  constructor(...args: ConstructorParameters<typeof Gateway>) {
    super(...args)
    made++
  }
}
