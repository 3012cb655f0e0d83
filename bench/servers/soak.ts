/** The service of the soak test. Each kind of traffic has an agent of its own, so that a wrong count shows whose it is. */

import { budgets } from '../../src/features/budgets/plugin.ts'
import { guards, refuse } from '../../src/features/guards/plugin.ts'
import { keysAuth } from '../../src/features/keys/keys-auth.ts'
import { callerKeys } from '../../src/features/keys/plugin.ts'
import { queue } from '../../src/features/queue/plugin.ts'
import { schedule, schedules } from '../../src/features/schedules/plugin.ts'
import { webhooks } from '../../src/features/webhooks/plugin.ts'
import {
  Agent,
  type AgentContext,
  bearerIdentity,
  createHandler,
  type Handler,
  type HandlerOptions,
  MetricsExporter,
  type Middleware,
  type RunInput,
  ServableError,
  type State,
  textOf,
  Workflow,
} from '../../src/index.ts'
import { agUi } from '../../src/protocols/ag-ui/plugin.ts'
import { aiSdkUi } from '../../src/protocols/ai-sdk-ui/plugin.ts'
import { mcp, mcpTasks } from '../../src/protocols/mcp/plugin.ts'
import { openai } from '../../src/protocols/openai/plugin.ts'
import {
  ADMIN_TOKEN,
  DECIDED,
  FORBIDDEN,
  HOSTILE,
  isAsking,
  KEY_CACHE_MS,
  KINDS,
  LASTING,
  MASK,
  MASKED,
  MAX_RUNNING,
  MAX_SPENT,
  NEIGHBOUR,
  type Order,
  piece,
  QUEUED,
  readOrder,
  SPENDER,
  TICK_MS,
  TICKER,
  WEBHOOK_SECRET,
} from '../soak/orders.ts'

/** Budgets of USD need a model with a price. */
const MODEL = { provider: 'acme', id: 'model-1' }

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** Characters of all files, as base64, which the agent gets. */
const sizeOf = (input: RunInput): number =>
  typeof input === 'string'
    ? 0
    : input.reduce((sum, part) => sum + ('data' in part ? String(part.data).length : 0), 0)

async function* saying({ tag, pieces, pauseMs }: Order) {
  for (let i = 0; i < pieces; i++) {
    yield piece(tag, i)
    if (pauseMs > 0) await sleep(pauseMs)
  }
}

/** Says what a person has decided of a call. */
async function* paying(call: ReturnType<AgentContext['callTool']>) {
  try {
    yield* call
    yield DECIDED.approve
  } catch (error) {
    if (!(error instanceof ServableError) || error.code !== 'approval_denied') throw error
    yield DECIDED.deny
  }
}

/** Says numbered pieces, then ends as its input says. */
const agentOf = (name: string) =>
  new Agent({
    name,
    register: false,
    model: MODEL,
    // Runs that waited for a place are never cut off.
    resume: name === QUEUED,
    tools: [
      { name: 'look', execute: () => 'found' },
      { name: 'pay', needsApproval: true, execute: () => 'paid' },
    ],
    async *run(input, { signal, callTool }) {
      const order = readOrder(textOf(input))
      const { pieces, fate } = order
      yield* saying(order)
      const size = sizeOf(input)
      if (size > 0) yield String(size)
      if (fate === 'tool') yield* callTool('look', {})
      if (isAsking(fate)) yield* paying(callTool('pay', { amount: pieces }))
      if (fate === 'fail') throw new Error('as it was told')
      while (fate === 'wait' && !signal.aborted) await sleep(5)
      return { usage: { promptTokens: 2, completionTokens: pieces, totalTokens: pieces + 2 } }
    },
  })

/** Says its pieces, each in a step of its own. It goes on in another process if its own is killed. */
const lasting = new Workflow({
  name: LASTING,
  register: false,
  async *run(input, { step, ask }) {
    const { tag, pieces, pauseMs, fate } = readOrder(textOf(input))
    for (let i = 0; i < pieces; i++) {
      if (isAsking(fate) && i === pieces >> 1) yield `${yield* ask('size')} `
      yield yield* step(`step ${i}`, async () => {
        await sleep(pauseMs)
        return piece(tag, i)
      })
    }
  },
})

/** Says which tick its run is of. */
const ticker = new Agent({
  name: TICKER,
  register: false,
  model: MODEL,
  // A run of a process that is killed goes on in another one.
  resume: true,
  run: (_, { metadata }) => (metadata as { schedule: { tick: string } }).schedule.tick,
})

const keys = callerKeys({
  authenticate: bearerIdentity({ tokens: { [ADMIN_TOKEN]: 'admin' } }),
  cacheMs: KEY_CACHE_MS,
})
const admitKey = keysAuth(keys)

/** Gives an identity to requests that name one, so that the service can recognize the hostile client, or that have a key. */
const identify: Middleware = (request, context, next) => {
  if (request.headers.has('authorization')) return admitKey(request, context, next)
  const id = request.headers.get('x-client')
  if (id !== null) context.identity = { id }
  return next()
}

const ticking = schedules([
  schedule(TICKER, { cron: `*/${TICK_MS / 1000} * * * * *`, input: 'tick', owner: TICKER }),
])

/** A window in which the whole test is. */
const WINDOW_MS = 1e11

/** One counts all runs of each kind. The other one is used up by identities of its own. */
const limits = budgets([
  {
    ...{ name: 'kinds', maxCostUsd: 1e6, reserveUsd: 1, maxTokens: 1e12, reserveTokens: 1000 },
    windowMs: WINDOW_MS,
    key: ({ name }) => KINDS.find(kind => kind === name),
  },
  {
    ...{ name: 'spenders', maxTokens: MAX_SPENT, reserveTokens: 20, windowMs: WINDOW_MS },
    key: ({ owner }) => (owner?.startsWith(SPENDER) ? owner : undefined),
  },
])

/** Patterns that take quadratic and exponential time where they are tried at each character. */
const COSTLY = { mask: [{ pattern: /[\w.]+@[\w.]+\w/ }, { pattern: /(a+)+b/ }] }

const guarding = guards({
  agents: {
    [HOSTILE]: { onInput: COSTLY, onOutput: COSTLY },
    guarded: {
      onInput: ({ input }) =>
        JSON.stringify(input).includes(FORBIDDEN) ? refuse('That is forbidden') : undefined,
      onOutput: { mask: [{ pattern: MASKED, with: MASK }] },
    },
  },
})

/** The receiver of webhooks fails now and then: what it is told is sent again soon. */
const telling = (url: string, retentionMs: number) =>
  webhooks({
    subscriptions: [{ id: 'soak', url, secret: WEBHOOK_SECRET }],
    ...{ allow: ['127.0.0.1'], timeoutMs: 5000, retryMs: 500, maxRetryMs: 2000 },
    retentionMs: Math.max(retentionMs, 60_000),
    maxDeliveries: 5000,
  })

/**
 * The options of the service. It stores little, and for a short time, so that the amount does not depend on the speed. `hookUrl` is
 * told of stored runs.
 */
export function soakOptions(state: State, retentionMs: number, hookUrl: string): HandlerOptions {
  // Schedules need a state that outlives the process.
  const isVolatile = state.kind === 'local' && state.isVolatile
  // What a killed process had claimed to tell is anyone's after 20 s. The task must be there then.
  const maxTasksPerOwner = state.kind === 'local' && !isVolatile ? 3000 : 300
  return {
    production: true,
    registry: false,
    agents: {
      ...Object.fromEntries([...KINDS, HOSTILE, NEIGHBOUR].map(name => [name, agentOf(name)])),
      [TICKER]: ticker,
    },
    workflows: { [LASTING]: lasting },
    middleware: [identify],
    state,
    a2a: { default: 'tasks', maxTasksPerOwner, push: { allow: ['127.0.0.1'], maxTries: 2 } },
    gateway: { recovery: { maxMs: 20_000 } },
    fileUpload: true,
    pricing: { 'acme/model-1': { prompt: 3, completion: 15 } },
    metricsExporter: new MetricsExporter(),
    runs: { retentionMs, maxRunningPerOwner: MAX_RUNNING },
    plugins: [
      ...[keys, queue(), limits, guarding, telling(hookUrl, retentionMs)],
      ...[aiSdkUi(), agUi(), openai()],
      mcp({
        tools: ['mcp', { of: 'mcp', name: 'mcp_task', taskSupport: 'required' }],
        tasks: mcpTasks({ pollIntervalMs: 50 }),
      }),
      ...(isVolatile ? [] : [ticking]),
    ],
    logger: false,
  }
}

/** The handler of the service. */
export function soakHandler(options: HandlerOptions, collect?: () => string): Handler {
  const fallback = () => new Response(collect?.() ?? 'nothing here', { status: collect ? 200 : 404 })
  return createHandler({ ...options, fallback })
}
