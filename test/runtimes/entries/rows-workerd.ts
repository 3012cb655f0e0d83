/** A Worker that gives its Durable Objects' writes at `/ledger`. `POST` also begins a new ledger. `/ring` is the cron trigger. */
import { env } from 'cloudflare:workers'
import { budgets } from '../../../src/features/budgets/plugin.ts'
import { files } from '../../../src/features/files/plugin.ts'
import { guards } from '../../../src/features/guards/plugin.ts'
import { callerKeys, keysAuth } from '../../../src/features/keys/plugin.ts'
import { queue } from '../../../src/features/queue/plugin.ts'
import { schedule, schedules } from '../../../src/features/schedules/plugin.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import { webhooks } from '../../../src/features/webhooks/plugin.ts'
import {
  Agent,
  bearerIdentity,
  createHandler,
  MetricsExporter,
  type Plugin,
  tool,
  Workflow,
} from '../../../src/index.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import {
  durableObjects,
  durableState,
  scheduled,
  type WorkerFetch,
  worker,
} from '../../../src/runtimes/cloudflare.ts'
import { identify } from '../../contracts/identify.ts'
import { metered, readLedger } from './metered.ts'

/** `PART` is the name of a part that is on besides the usual ones, and `RECEIVER` the address that webhooks tell. */
const { PART, RETENTION, RECEIVER } = env as { PART?: string; RETENTION?: string; RECEIVER?: string }

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

let releases = 0

/** Works until the next `POST /release`. */
const held = new Agent({
  name: 'held',
  async *run() {
    const from = releases
    yield 'working'
    while (releases === from) await new Promise(resolve => setTimeout(resolve, 10))
  },
})

const pay = tool({ name: 'pay', needsApproval: true, execute: () => 'paid' })

/** Waits for an approval. */
const pays = new Agent({
  name: 'pays',
  tools: [pay],
  async *run(_, { callTool }) {
    yield yield* callTool(pay, {})
  },
})

const painter = new Agent({
  name: 'painter',
  async *run() {
    const data = btoa('x'.repeat(100_000))
    yield { type: 'artifact', artifactId: 'picture', parts: [{ type: 'image', data, mimeType: 'image/png' }] }
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

const authenticate = bearerIdentity({ tokens: { 'token-of-the-administrator': 'root' } })
// Each check reads the state, as in an isolate that does not know the key.
const keys = callerKeys({ authenticate, cacheMs: 0 })

/** The parts that are on only where `PART` names them. */
const PARTS: Readonly<Record<string, () => Plugin>> = {
  budgets: () => budgets({ maxTokens: 1e9, windowMs: 86_400_000, key: ({ client }) => client }),
  files: () => files(),
  guards: () => guards({ onInput: () => undefined, onOutput: () => undefined }),
  keys: () => keys,
  queue: () => queue(),
  schedules: () => schedules([schedule(burst, { cron: '*/3 * * * * *', input: 'x', owner: 'ada' })]),
  sessions: () => sessions(),
  webhooks: () =>
    webhooks({
      subscriptions: [{ id: 'all', url: RECEIVER ?? '', secret: `whsec_${btoa('all'.padEnd(32, '.'))}` }],
      allow: ['127.0.0.1'],
    }),
}
const part = PART === undefined ? undefined : PARTS[PART]?.()

const handler = createHandler({
  agents: { burst, paced, held, pays, painter },
  workflows,
  a2a: { agents: { burst } },
  state: durableState({ listsAll: PART === 'lists' }),
  middleware: PART === 'keys' ? [keysAuth(keys)] : [identify],
  production: true,
  logger: false,
  runs: { retentionMs: Number(RETENTION ?? 60_000), ...(PART === 'queue' && { maxRunningPerOwner: 1 }) },
  plugins: [openai(), ...(part === undefined ? [] : [part])],
  ...(PART === 'metrics' && { metricsExporter: new MetricsExporter() }),
})
const serve = worker(handler)
const ring = PART === 'schedules' ? scheduled(handler) : undefined
const made = durableObjects(handler)

const entry: { fetch: WorkerFetch } = {
  async fetch(request, ...rest) {
    const { pathname } = new URL(request.url)
    if (pathname === '/ledger') return Response.json(readLedger(request.method === 'POST'))
    if (pathname === '/release') releases++
    else if (pathname === '/ring') await ring?.({}, ...rest)
    else return serve(request, ...rest)
    return new Response('done')
  },
}
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry

export const ServableRun: typeof made.ServableRun = metered('ServableRun', made.ServableRun)
export const ServableIndex: typeof made.ServableIndex = metered('ServableIndex', made.ServableIndex)
export const ServableMetrics: typeof made.ServableMetrics = metered('ServableMetrics', made.ServableMetrics)
