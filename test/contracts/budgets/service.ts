/**
 * The service of the contract of budgets. Every runtime serves it with a state of its own. Its agent calls a model as often as it is
 * told, for a cent and 1,000 tokens each.
 */

import { type BudgetOptions, budgets } from '../../../src/features/budgets/plugin.ts'
import {
  Agent,
  bearerIdentity,
  createHandler,
  type Handler,
  type HandlerOptions,
  type State,
  sequence,
  Team,
  textOf,
  Workflow,
} from '../../../src/index.ts'
import { agUi } from '../../../src/protocols/ag-ui/plugin.ts'
import { mcp } from '../../../src/protocols/mcp/plugin.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import { identify } from '../identify.ts'

/** Milliseconds of a window that does not end while its tests run. */
export const LONG_MS = 365 * 86_400_000

/** Milliseconds of a window of the settings `brief`. */
export const BRIEF_MS = 4000

export const ADMIN = 'an-administrator'

const USAGE = { promptTokens: 600, completionTokens: 400, totalTokens: 1000 }

const modelCall = (isLast: boolean) =>
  ({
    type: 'model_call',
    model: 'acme/large',
    usage: USAGE,
    finishReason: isLast ? 'stop' : 'tool_calls',
  }) as const

/** Calls its model so many times. After `hang` it waits for ever; after `slow` it waits a moment after each call. */
const calls = new Agent({
  name: 'calls',
  register: false,
  model: { provider: 'acme', id: 'large' },
  async *run(input, { signal }) {
    const [times = 1, how] = textOf(input).split(' ')
    for (let call = 1; call <= Number(times); call++) {
      yield modelCall(call === Number(times) && how !== 'hang')
      yield `call ${call} `
    }
    if (how === 'hang') await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
    const { promptTokens, completionTokens, totalTokens } = USAGE
    const usage = {
      promptTokens: promptTokens * Number(times),
      completionTokens: completionTokens * Number(times),
      totalTokens: totalTokens * Number(times),
    }
    return { usage }
  },
})

/** Says what it used, and tells no calls. */
const tells = new Agent({
  name: 'tells',
  register: false,
  model: { provider: 'acme', id: 'large' },
  run: () => ({ text: 'told', usage: USAGE }),
})

/** One call before a question, and one after it. */
const asks: Workflow = new Workflow({
  name: 'asks',
  async *run(_, { ask, call }) {
    yield* call(calls, '1')
    yield* ask('size', { message: 'Which size?' })
    yield* call(calls, '1')
  },
})

/** Both kinds of agents, each once. */
const both: Team = new Team({ name: 'both', members: [calls, tells], strategy: sequence })

const OWN: BudgetOptions = { maxCostUsd: 0.05, windowMs: LONG_MS, key: 'owner', reserveUsd: 0.01 }

const SETTINGS: Readonly<Record<string, BudgetOptions | readonly BudgetOptions[]>> = {
  usual: OWN,
  brief: { ...OWN, windowMs: BRIEF_MS },
  many: { maxCostUsd: 0.5, windowMs: LONG_MS, key: 'all', reserveUsd: 0.01 },
  several: [
    { ...OWN, name: 'day' },
    { maxTokens: 1e6, windowMs: LONG_MS, key: 'agent' },
    {
      name: 'team',
      maxCostUsd: 0.02,
      windowMs: LONG_MS,
      reserveUsd: 0.01,
      key: ({ owner }) => owner?.match(/ of (.*)/)?.[1],
    },
  ],
}

/** The handler of the service. `more` is what a deployment adds. */
export function handlerOn(state: State, settings = 'usual', more: HandlerOptions = {}): Handler {
  return createHandler({
    production: true,
    agents: { calls, tells },
    teams: { both },
    workflows: { asks },
    registry: false,
    pricing: { 'acme/large': { prompt: 10, completion: 10 } },
    state,
    middleware: [identify],
    a2a: { default: 'calls' },
    gateway: true,
    plugins: [
      budgets(SETTINGS[settings] ?? OWN, {
        authenticate: bearerIdentity({ tokens: { [ADMIN]: 'admin' } }),
      }),
      agUi(),
      openai(),
      mcp({ tools: true }),
    ],
    ...more,
  })
}
