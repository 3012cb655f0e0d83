import { env } from 'cloudflare:workers'
import { durableObjects, durableState, worker } from '../../src/runtimes/cloudflare.ts'
import { soakHandler, soakOptions } from './soak.ts'

const { RETENTION_MS = '120000' } = env as { RETENTION_MS?: string }
const handler = soakHandler(soakOptions(durableState(), Number(RETENTION_MS)))

export default { fetch: worker(handler) }

export const { ServableRun, ServableIndex, ServableGateway, ServableMetrics } = durableObjects(handler)
