/** The service of the contract of webhooks. Every runtime serves it with a state of its own. */
import { approvals } from '../../../src/features/approvals/plugin.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import { webhooks } from '../../../src/features/webhooks/plugin.ts'
import {
  Agent,
  createHandler,
  type Handler,
  type HandlerOptions,
  type State,
  tool,
} from '../../../src/index.ts'
import { agents } from '../fixture/agents.ts'
import { identify } from '../identify.ts'

const bytesOf = (text: string) => `whsec_${btoa(text.padEnd(32, '.'))}`

/** Secrets of the deployment, and of webhooks that runs name. */
export const SECRETS = {
  all: bytesOf('all'),
  failures: bytesOf('failures'),
  annsEcho: bytesOf('ann'),
  contents: bytesOf('contents'),
  runs: bytesOf('runs'),
} as const

const pay = tool({ name: 'pay', parameters: { type: 'object' }, needsApproval: true, execute: () => 'paid' })

const pays = new Agent({
  name: 'pays',
  register: false,
  tools: [pay],
  async *run(_, { callTool }) {
    yield String(yield* callTool(pay, {}))
  },
})

const fails = new Agent({
  name: 'fails',
  register: false,
  run: () => {
    throw new Error('this is secret')
  },
})

const stays = new Agent({
  name: 'stays',
  register: false,
  async *run(_, { signal }) {
    yield 'waiting'
    await new Promise(resolve => signal.addEventListener('abort', resolve))
  },
})

/** How deliveries are tried: `patient` ones for long, `calm` ones with time between two tries. */
const TIMES = {
  usual: { retryMs: 50, maxRetryMs: 2000, maxTries: 3, timeoutMs: 1500 },
  patient: { retryMs: 200, maxRetryMs: 500, maxTries: 1000, timeoutMs: 1000 },
  calm: { retryMs: 4000, maxRetryMs: 4000, maxTries: 1000, timeoutMs: 1000 },
} as const

/**
 * The handler of the service. The settings are the address of the receiver, perhaps after a name of `TIMES`. `more` is what a
 * deployment adds.
 */
export function handlerOn(state: State, settings = '', more: HandlerOptions = {}): Handler {
  const [receiver = '', how = 'usual'] = settings.split(' ').toReversed()
  const { all, failures, annsEcho, contents, runs } = SECRETS
  return createHandler({
    production: true,
    logger: false,
    agents: { pays, fails, stays, echo: agents.echo! },
    state,
    middleware: [identify],
    admin: { authenticate: request => (request.headers.has('x-test-admin') ? { id: 'root' } : undefined) },
    plugins: [
      approvals(),
      sessions(),
      webhooks({
        subscriptions: [
          { id: 'all', url: `${receiver}/all?token=secret`, secret: [all, failures] },
          { id: 'failures', url: `${receiver}/failures`, secret: failures, events: ['run.failed'] },
          {
            id: 'anns-echo',
            url: `${receiver}/anns-echo`,
            secret: annsEcho,
            owners: ['ann'],
            agents: ['echo'],
          },
          { id: 'contents', url: `${receiver}/contents`, secret: contents, agents: ['echo'], contents: true },
        ],
        clients: { maxPerOwner: 3 },
        runs: { secret: runs },
        allow: ['127.0.0.1'],
        ...TIMES[how as keyof typeof TIMES],
      }),
    ],
    ...more,
  })
}
