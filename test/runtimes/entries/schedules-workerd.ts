// The Worker of the contract of schedules. No clock of Cloudflare's rings here, so `/scheduled` does.
import { env } from 'cloudflare:workers'
import {
  durableObjects,
  durableState,
  scheduled,
  type WorkerFetch,
  type WorkerScheduled,
  worker,
} from '../../../src/runtimes/cloudflare.ts'
import { schedulesHandler, schedulesOptions } from '../../contracts/schedules/service.ts'
import { counted, counting } from './counting.ts'

const { SETTINGS } = env as { SETTINGS?: string }
const handler = schedulesHandler(schedulesOptions(durableState(), SETTINGS))
const ring = scheduled(handler)
const { fetch: serve } = counting(worker(handler))

const entry: { fetch: WorkerFetch; scheduled: WorkerScheduled } = {
  async fetch(request, bindings, context) {
    if (new URL(request.url).pathname !== '/scheduled') return serve(request, bindings, context)
    await ring({}, bindings, context)
    return new Response('rung')
  },
  scheduled: ring,
}
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry

const { ServableRun, ServableIndex: Index, ServableGateway } = durableObjects(handler)

export { ServableGateway, ServableRun }

export const ServableIndex = counted(Index)
