/** The service of the contract of pauses. Every runtime serves it with a state of its own. */

import { queue } from '../../../src/features/queue/plugin.ts'
import {
  Agent,
  createHandler,
  type Handler,
  type HandlerOptions,
  type Middleware,
  pausing,
  type State,
  sequence,
  Team,
  textOf,
  Workflow,
} from '../../../src/index.ts'
import { agUi } from '../../../src/protocols/ag-ui/plugin.ts'
import { aiSdkUi } from '../../../src/protocols/ai-sdk-ui/plugin.ts'
import { mcp } from '../../../src/protocols/mcp/plugin.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'

/** The identity and its roles: `eve operator`. */
const identify: Middleware = (request, context, next) => {
  const [id = '', ...roles] = (request.headers.get('x-test-user') ?? '').split(' ')
  if (id !== '') context.identity = { id, ...(roles.length > 0 && { roles }) }
  return next()
}

/** Repeats its input. After `wait` it says so, and goes on when it is cancelled. */
const works = new Agent({
  name: 'works',
  register: false,
  async *run(input, { signal }) {
    yield `works: ${textOf(input)}`
    if (textOf(input) === 'wait')
      await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
  },
})

const other = new Agent({ name: 'other', register: false, run: input => textOf(input) })

const asks: Workflow = new Workflow({
  name: 'asks',
  register: false,
  async *run(_, { ask }) {
    const { size } = (yield* ask('size', { message: 'Which size?' })) as { size: string }
    yield `size ${size}`
  },
})

const pair: Team = new Team({ name: 'pair', register: false, members: [works], strategy: sequence })

/** The handler of the service. `more` is what a deployment adds. */
export function handlerOn(state: State, _settings?: string, more: HandlerOptions = {}): Handler {
  return createHandler({
    production: true,
    registry: false,
    agents: { works, other },
    teams: { pair },
    workflows: { asks },
    state,
    logger: false,
    middleware: [identify],
    runs: { maxRunningPerOwner: 1, keepInput: true },
    a2a: { default: 'works' },
    gateway: true,
    plugins: [pausing(), queue(), agUi(), aiSdkUi({ agent: 'works' }), mcp({ tools: true }), openai()],
    ...more,
  })
}
