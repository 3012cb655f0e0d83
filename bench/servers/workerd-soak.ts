import { env } from 'cloudflare:workers'
import {
  durableObjects,
  durableState,
  scheduled,
  type WorkerFetch,
  worker,
} from '../../src/runtimes/cloudflare.ts'
import { soakHandler, soakOptions } from './soak.ts'

const { RETENTION_MS = '120000', HOOK_URL = '' } = env as { RETENTION_MS?: string; HOOK_URL?: string }
const handler = soakHandler(soakOptions(durableState(), Number(RETENTION_MS), HOOK_URL))

const serve = worker(handler)
const ring = scheduled(handler)

/** No clock of Cloudflare's rings here, so `/scheduled` does. */
const fetch: WorkerFetch = async (request, bindings, context) => {
  if (new URL(request.url).pathname !== '/scheduled') return serve(request, bindings, context)
  await ring({}, bindings, context)
  return new Response('rung')
}

export default { fetch }

export const { ServableRun, ServableIndex, ServableGateway, ServableMetrics } = durableObjects(handler)
