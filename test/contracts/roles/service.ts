/** The service of the contract of roles and tenants. Every runtime serves it with a state of its own. */

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
  ivy: { id: 'ivy', roles: ['viewer'] },
  root: { id: 'root', roles: ['admin'] },
  'acme-ada': { id: 'ada', tenant: 'acme' },
  'acme-eve': { id: 'eve', tenant: 'acme', roles: ['operator'] },
}

const agents = {
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
    production: true,
    middleware: [bearerAuth({ tokens })],
    runs: { store: 'all', disconnect: 'continue', keepInput: true },
    plugins: [sessions()],
    ...more,
  })
}
