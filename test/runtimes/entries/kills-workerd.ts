import { env } from 'cloudflare:workers'
import { createHandler } from '../../../src/index.ts'
import { durableObjects, durableState, type WorkerFetch, worker } from '../../../src/runtimes/cloudflare.ts'
import { crashing } from './crashing.ts'
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
  a2a: true,
  logger: false,
})

const made = durableObjects(handler)

export const ServableRun: typeof made.ServableRun = crashing(made.ServableRun)

export const { ServableIndex } = made

interface Bindings {
  readonly SERVABLE_RUN: { getByName(id: string): { crash(): Promise<void> } }
}

const serve = worker(handler)

const entry: { fetch: WorkerFetch } = {
  async fetch(request, bindings, context) {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname !== '/crash') return serve(request, bindings, context)
    const object = (env as Bindings).SERVABLE_RUN.getByName(searchParams.get('id') ?? '')
    await object.crash().catch(() => {})
    return new Response()
  },
}
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry
