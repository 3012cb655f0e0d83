import { env } from 'cloudflare:workers'
// In your own project import from `servable` and `servable/cloudflare`. This example imports the sources, so that it needs no
// build.
import { createHandler } from '../src/index.ts'
import { durableObjects, durableState, scheduled, worker, workerAssets } from '../src/runtimes/cloudflare.ts'
import { everything, type Variables } from './everything.ts'

const variables = env as Variables & { readonly LOOPBACK?: string }

const handler = createHandler({
  ...everything(variables, { state: durableState({ listsAll: true }), assets: workerAssets() }),
  // `wrangler dev` tells the address of clients in this header, unless they send it themselves. `npm run dev` listens on loopback alone
  // and says so, so only this machine could.
  ...(variables.LOOPBACK && { trustProxy: 'cf-connecting-ip' }),
})

export default { fetch: worker(handler), scheduled: scheduled(handler) }

export const { ServableRun, ServableIndex, ServableGateway, ServableMetrics } = durableObjects(handler)
