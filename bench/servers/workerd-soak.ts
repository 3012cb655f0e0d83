import { env } from 'cloudflare:workers'
import { durableObjects, durableState, scheduled, worker } from '../../src/runtimes/cloudflare.ts'
import { ringing } from '../../test/runtimes/entries/ringing.ts'
import { soakHandler, soakOptions } from './soak.ts'

const { RETENTION_MS = '120000', HOOK_URL = '' } = env as { RETENTION_MS?: string; HOOK_URL?: string }
const handler = soakHandler(soakOptions(durableState(), Number(RETENTION_MS), HOOK_URL))

export default { fetch: ringing(worker(handler), scheduled(handler)) }

export const { ServableRun, ServableIndex, ServableGateway, ServableMetrics } = durableObjects(handler)
