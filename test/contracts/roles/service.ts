/** The service of the contract of roles and tenants. Every runtime serves it with a state of its own. */

import { keptContents } from '../../../src/adapters/frameworks/kept-contents.ts'
import { withContents } from '../../../src/agents/model-calls.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import {
  Agent,
  bearerAuth,
  createHandler,
  type Handler,
  type HandlerOptions,
  type State,
  textOf,
} from '../../../src/index.ts'

const tokens = {
  ada: 'ada',
  bob: 'bob',
  eve: { id: 'eve', roles: ['operator'] },
  root: { id: 'root', roles: ['admin'] },
  vic: { id: 'vic', roles: ['viewer'] },
  'acme-ada': { id: 'ada', tenant: 'acme' },
  'acme-eve': { id: 'eve', tenant: 'acme', roles: ['operator'] },
}

const agents = {
  /** Tells a call of a model, as adapters do. */
  models: new Agent({
    name: 'models',
    register: false,
    async *run(input, { work }) {
      const call = { type: 'model_call', finishReason: 'stop' } as const
      const contents = { prompt: { messages: [textOf(input)] }, reply: { text: 'the reply' } }
      yield work.keepsCalls ? withContents(call, secrets => keptContents(contents, secrets)) : call
      yield 'done'
    },
  }),
  says: new Agent({ name: 'says', register: false, run: input => textOf(input) }),
  waits: new Agent({
    name: 'waits',
    register: false,
    async *run(_, { signal }) {
      yield 'waiting'
      await new Promise(resolve => signal.addEventListener('abort', resolve))
    },
  }),
}

/** The handler of the service. `more` is what a deployment adds. */
export function handlerOn(state: State, _settings?: string, more: HandlerOptions = {}): Handler {
  return createHandler({
    agents,
    registry: false,
    state,
    logger: false,
    // What models are sent is kept in development alone.
    production: false,
    middleware: [bearerAuth({ tokens })],
    runs: { store: 'all', disconnect: 'continue', keepInput: true, keepModelCalls: true },
    plugins: [sessions()],
    ...more,
  })
}
