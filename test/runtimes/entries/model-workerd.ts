/** A Worker with an agent of a model whose stored runs go on; `/crash/<id>` ends the object of a run like a crash. */
import { env } from 'cloudflare:workers'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ModelAgent } from '../../../src/adapters/model-agent/index.ts'
import { createHandler } from '../../../src/index.ts'
import { durableObjects, durableState, type WorkerFetch, worker } from '../../../src/runtimes/cloudflare.ts'
import { crashing } from './crashing.ts'

const { SETTINGS, SERVABLE_RUN } = env as {
  readonly SETTINGS: string
  readonly SERVABLE_RUN: { getByName(id: string): { crash(): Promise<void> } }
}

let count = 0

const helper = new ModelAgent({
  name: 'helper',
  model: createOpenAICompatible({ name: 'provider-a', baseURL: SETTINGS, apiKey: 'k', includeUsage: true })(
    'm',
  ),
  register: false,
  resume: true,
  tools: [{ name: 'look', execute: (_, { idempotencyKey }) => ({ count: ++count, idempotencyKey }) }],
})

const handler = createHandler({ registry: false, logger: false, agents: { helper }, state: durableState() })
const made = durableObjects(handler)
export const { ServableIndex, ServableGateway, ServableMetrics } = made

export const ServableRun: typeof made.ServableRun = crashing(made.ServableRun)

const serve = worker(handler)

const entry: { fetch: WorkerFetch } = {
  async fetch(request, ...rest) {
    const { pathname } = new URL(request.url)
    if (!pathname.startsWith('/crash/')) return serve(request, ...rest)
    await SERVABLE_RUN.getByName(pathname.slice('/crash/'.length))
      .crash()
      .catch(() => {})
    return new Response('ok')
  },
}
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry
