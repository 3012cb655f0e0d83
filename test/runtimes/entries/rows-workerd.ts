/** A Worker that gives its Durable Objects' writes at `/ledger`. `POST` also begins a new ledger. */
import { env } from 'cloudflare:workers'
import { budgets } from '../../../src/budgets/plugin.ts'
import { Agent, createHandler, MetricsExporter, Workflow } from '../../../src/index.ts'
import { openai } from '../../../src/openai/plugin.ts'
import { durableObjects, durableState, type WorkerFetch, worker } from '../../../src/runtimes/cloudflare.ts'
import { sessions } from '../../../src/sessions/plugin.ts'
import { identify } from '../../contracts/identify.ts'
import { metered, readLedger } from './metered.ts'

const { METRICS, RETENTION, LISTED, BUDGETS } = env as {
  METRICS?: string
  RETENTION?: string
  LISTED?: string
  BUDGETS?: string
}

const PIECES = 50

const burst = new Agent({
  name: 'burst',
  async *run() {
    for (let piece = 1; piece <= PIECES; piece++) yield `piece ${piece} `
  },
})

const paced = new Agent({
  name: 'paced',
  async *run() {
    for (let piece = 1; piece <= PIECES; piece++) {
      await new Promise(resolve => setTimeout(resolve, 20))
      yield `piece ${piece} `
    }
  },
})

const STEPS = 10

/** A workflow of ten steps, and one that does the same in one function. */
const flow = (name: string, resume: boolean): Workflow =>
  new Workflow({
    name,
    resume,
    async *run(_, { step }) {
      for (let number = 1; number <= STEPS; number++) {
        yield* step(`step ${number}`, async () => {
          await new Promise(resolve => setTimeout(resolve, 5))
          return number
        })
      }
    },
  })
const workflows = { journalled: flow('journalled', true), plain: flow('plain', false) }

const handler = createHandler({
  agents: { burst, paced },
  workflows,
  a2a: { agents: { burst } },
  state: durableState(),
  middleware: [identify],
  production: true,
  logger: false,
  runs: { retentionMs: Number(RETENTION ?? 60_000) },
  plugins: [
    openai(),
    ...(LISTED === undefined ? [] : [sessions()]),
    ...(BUDGETS === undefined
      ? []
      : [budgets({ maxTokens: 1e9, windowMs: 86_400_000, key: ({ client }) => client })]),
  ],
  ...(METRICS !== undefined && { metricsExporter: new MetricsExporter() }),
})
const serve = worker(handler)
const made = durableObjects(handler)

const entry: { fetch: WorkerFetch } = {
  async fetch(request, ...rest) {
    if (new URL(request.url).pathname !== '/ledger') return serve(request, ...rest)
    return Response.json(readLedger(request.method === 'POST'))
  },
}
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry

export const ServableRun: typeof made.ServableRun = metered('ServableRun', made.ServableRun)
export const ServableIndex: typeof made.ServableIndex = metered('ServableIndex', made.ServableIndex)
export const ServableMetrics: typeof made.ServableMetrics = metered('ServableMetrics', made.ServableMetrics)
