// The Worker of the contract of schedules.
import { env } from 'cloudflare:workers'
import {
  durableObjects,
  durableState,
  scheduled,
  type WorkerFetch,
  type WorkerScheduled,
  worker,
} from '../../../src/runtimes/cloudflare.ts'
import { handlerOn } from '../../contracts/schedules/service.ts'
import { counted, counting } from './counting.ts'
import { ringing } from './ringing.ts'

const { SETTINGS } = env as { SETTINGS?: string }
const handler = handlerOn(durableState(), SETTINGS)
const ring = scheduled(handler)
const { fetch: serve } = counting(worker(handler))

const entry: { fetch: WorkerFetch; scheduled: WorkerScheduled } = {
  fetch: ringing(serve, ring),
  scheduled: ring,
}
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry

const { ServableRun, ServableIndex: Index, ServableGateway } = durableObjects(handler)

export { ServableGateway, ServableRun }

export const ServableIndex = counted(Index)
