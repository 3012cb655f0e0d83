/** The service of the metrics contract. Every transport is on, and agents act as their input says. */
import {
  Agent,
  createHandler,
  type Handler,
  type HandlerOptions,
  MetricsExporter,
  type State,
  sequence,
  Team,
  textOf,
  Workflow,
} from '../../../src/index.ts'
import { sleep } from '../fixture/record.ts'

const usage = { promptTokens: 30, completionTokens: 12, totalTokens: 42 }

/** `fail` throws, `wait` continues until it is stopped, `tool` calls a tool. Any other input gets an answer. */
const worker = (name: string) =>
  new Agent({
    name,
    register: false,
    model: { provider: 'acme', id: 'model-1' },
    tools: [{ name: 'look "up"\\', execute: () => 'found' }],
    async *run(input, { signal, callTool }) {
      const what = textOf(input)
      yield `${what} `
      if (what === 'fail') throw new Error('as it was told')
      if (what === 'tool') yield* callTool('look "up"\\', {})
      while (what === 'wait' && !signal.aborted) await sleep(5)
      return { usage }
    },
  })

const agents = { worker: worker('worker'), 'quoted "one"\\': worker('quoted') }

/** The handler of the service. `more` is what a deployment adds. */
export function handlerOn(state: State, _settings?: string, more: HandlerOptions = {}): Handler {
  return createHandler({
    production: true,
    registry: false,
    agents,
    teams: {
      crew: new Team({ name: 'crew', members: [agents.worker], strategy: sequence, register: false }),
    },
    workflows: { flow: new Workflow({ name: 'flow', run: () => 'done', register: false }) },
    state,
    logger: false,
    a2a: { default: 'worker' },
    gateway: { limits: { maxEventsPerSecond: 100_000, maxRunsPerSocket: 1000 } },
    runs: { maxRunning: 10_000, maxRunningPerOwner: 10_000 },
    metricsExporter: new MetricsExporter({
      pricing: { 'acme/model-1': { prompt: 3, completion: 15 } },
      history: true,
    }),
    ...more,
  })
}
