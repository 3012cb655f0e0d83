/** The service of the soak test. Each kind of traffic has an agent of its own, so that a wrong count shows whose it is. */

import {
  Agent,
  createHandler,
  type Handler,
  type HandlerOptions,
  MetricsExporter,
  type Middleware,
  type RunInput,
  type State,
  textOf,
  Workflow,
} from '../../src/index.ts'
import { HOSTILE, KINDS, LASTING, NEIGHBOUR, piece, readOrder } from '../soak/orders.ts'

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** Characters of all files, as base64, which the agent gets. */
const sizeOf = (input: RunInput): number =>
  typeof input === 'string'
    ? 0
    : input.reduce((sum, part) => sum + ('data' in part ? String(part.data).length : 0), 0)

/** Says numbered pieces, then ends as its input says. */
const agentOf = (name: string) =>
  new Agent({
    name,
    register: false,
    model: { provider: 'acme', id: 'model-1' },
    tools: [{ name: 'look', execute: () => 'found' }],
    async *run(input, { signal, callTool }) {
      const { tag, pieces, pauseMs, fate } = readOrder(textOf(input))
      for (let i = 0; i < pieces; i++) {
        yield piece(tag, i)
        if (pauseMs > 0) await sleep(pauseMs)
      }
      const size = sizeOf(input)
      if (size > 0) yield String(size)
      if (fate === 'tool') yield* callTool('look', {})
      if (fate === 'fail') throw new Error('as it was told')
      while (fate === 'wait' && !signal.aborted) await sleep(5)
      return { usage: { promptTokens: 2, completionTokens: pieces, totalTokens: pieces + 2 } }
    },
  })

/** Says its pieces, each in a step of its own. It goes on in another process if its own is killed. */
const lasting = new Workflow({
  name: LASTING,
  register: false,
  async *run(input, { step }) {
    const { tag, pieces, pauseMs } = readOrder(textOf(input))
    for (let i = 0; i < pieces; i++) {
      yield yield* step(`step ${i}`, async () => {
        await sleep(pauseMs)
        return piece(tag, i)
      })
    }
  },
})

/** Gives an identity to requests that name one, so that the service can recognize the hostile client. */
const identify: Middleware = (request, context, next) => {
  const id = request.headers.get('x-client')
  if (id !== null) context.identity = { id }
  return next()
}

/** The options of the service. It stores little, and for a short time, so that the amount does not depend on the speed. */
export function soakOptions(state: State, retentionMs: number): HandlerOptions {
  return {
    production: true,
    registry: false,
    agents: Object.fromEntries([...KINDS, HOSTILE, NEIGHBOUR].map(name => [name, agentOf(name)])),
    workflows: { [LASTING]: lasting },
    middleware: [identify],
    state,
    a2a: { default: 'tasks', maxTasksPerOwner: 300, push: { allow: ['127.0.0.1'], maxTries: 2 } },
    gateway: { recovery: { maxMs: 5000 } },
    fileUpload: true,
    metricsExporter: new MetricsExporter({ pricing: { 'acme/model-1': { prompt: 3, completion: 15 } } }),
    runs: { retentionMs },
    logger: false,
  }
}

/** The handler of the service. */
export function soakHandler(options: HandlerOptions, collect?: () => string): Handler {
  const fallback = () => new Response(collect?.() ?? 'nothing here', { status: collect ? 200 : 404 })
  return createHandler({ ...options, fallback })
}
