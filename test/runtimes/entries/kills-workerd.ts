import { env } from 'cloudflare:workers'
import { createHandler } from '../../../src/index.ts'
import { durableObjects, durableState, type WorkerFetch, worker } from '../../../src/runtimes/cloudflare.ts'
import { orderOf } from './kills-workflow.ts'

const settings = env as { readonly EFFECTS: string; readonly GENERATION?: string }

const handler = createHandler({
  workflows: {
    order: orderOf(
      effect => fetch(settings.EFFECTS, { method: 'POST', body: JSON.stringify(effect) }),
      settings,
    ),
  },
  state: durableState(),
  logger: false,
})

const entry: { fetch: WorkerFetch } = { fetch: worker(handler) }
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry

export const { ServableRun, ServableIndex } = durableObjects(handler)
