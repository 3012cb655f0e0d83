import { env } from 'cloudflare:workers'
// In your own project import from `servable` and `servable/cloudflare`. This example imports the sources, so that it needs no
// build.
import { createHandler } from '../src/index.ts'
import { durableObjects, durableState, scheduled, worker, workerAssets } from '../src/runtimes/cloudflare.ts'
import { everything, type Variables } from './everything.ts'

const handler = createHandler(everything(env as Variables, { state: durableState(), assets: workerAssets() }))

export default { fetch: worker(handler), scheduled: scheduled(handler) }

export const { ServableRun, ServableIndex, ServableGateway, ServableMetrics } = durableObjects(handler)
