/**
 * The service of the contract of approvals. Every runtime serves it with a state of its own. An approver of `ann` is called
 * `bob of ann`; nobody approves more than 100 for themself.
 */
import { approvals } from '../../../src/features/approvals/plugin.ts'
import {
  Agent,
  createHandler,
  type Handler,
  type HandlerOptions,
  type State,
  textOf,
  tool,
} from '../../../src/index.ts'
import { agents } from '../fixture/agents.ts'
import { identify } from '../identify.ts'

/** Milliseconds for which an approval of the settings that end with `brief` may be decided. */
const BRIEF_MS = 1500

const pay = tool({
  name: 'pay',
  parameters: { type: 'object', properties: { amount: { type: 'number' } } },
  needsApproval: true,
  execute: args => `paid ${(args as { amount: number }).amount}`,
})

const thank = tool({ name: 'thank', execute: (_, { identity }) => `, thanks to ${identity}` })

const audit = tool({ name: 'audit', needsApproval: true, execute: (_, { approval }) => approval ?? null })

/** Asks for the approval of an amount, and says who asked with which key. A later version of it calls one more tool. */
const paysOf = (isLater: boolean): Agent =>
  new Agent({
    name: 'pays',
    register: false,
    tools: [pay, ...(isLater ? [thank] : [])],
    async *run(input, { callTool, apiKey, userId, sessionId }) {
      let done: unknown
      try {
        done = yield* callTool(pay, { amount: Number(textOf(input)) })
      } catch (error) {
        done = `not paid: ${(error as Error).message}`
      }
      yield `${done} by ${userId} in ${sessionId ?? 'none'} with ${apiKey ?? 'no key'}`
      if (isLater) yield String(yield* callTool(thank, {}))
    },
  })

/** Says who approved its call. */
const audited: Agent = new Agent({
  name: 'audited',
  register: false,
  async *run(_, { callTool }) {
    yield JSON.stringify(yield* callTool(audit, { amount: 5 }))
  },
})

/** Asks for an approval and for a size. */
const orders: Agent = new Agent({
  name: 'orders',
  register: false,
  tools: [pay],
  async *run(_, { ask, callTool, parallel }) {
    yield 'An order. '
    const [paid, size] = yield* parallel([
      callTool(pay, { amount: 5 }),
      ask('size', { message: 'Which size?' }),
    ])
    yield `${paid} in ${size}`
  },
})

/** The handler of the service. `more` is what a deployment adds. */
export function handlerOn(state: State, settings = 'usual', more: HandlerOptions = {}): Handler {
  return createHandler({
    production: true,
    agents: { pays: paysOf(settings === 'later'), orders, audited, echo: agents.echo! },
    state,
    middleware: [identify],
    runs: { store: 'asked', maxWaitingPerOwner: settings.endsWith('brief') ? 3 : 2000 },
    a2a: { default: 'pays' },
    gateway: true,
    plugins: [
      approvals({
        authorize({ request, run }, { identity }) {
          if (identity?.id === `thrower of ${run.owner}`) throw new Error('nobody knows')
          const { amount } = request.args as { amount: number }
          return identity?.id === `bob of ${run.owner}` || (identity?.id === run.owner && amount <= 100)
        },
        ...(settings.endsWith('brief') && { expiresMs: BRIEF_MS }),
        onExpiry: settings.startsWith('continue') ? 'continue' : 'refuse',
      }),
    ],
    ...more,
  })
}
