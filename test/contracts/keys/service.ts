/** The service of the contract of keys. Every runtime serves it with a state of its own. */

import { callerKeys, keysAuth } from '../../../src/features/keys/plugin.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
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
import { aiSdkUi } from '../../../src/protocols/ai-sdk-ui/plugin.ts'
import { mcp } from '../../../src/protocols/mcp/plugin.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'

/** The token of the administrator, and one that is no key. */
export const ADMIN = 'token-of-the-administrator'
export const OTHER = 'token-of-somebody-else'

/** Milliseconds for which the settings `forgetful` remember a key. */
const BRIEF_MS = 200

const says: Agent = new Agent({
  name: 'says',
  register: false,
  run: (input, { identity }) => `${textOf(input)} by ${identity}`,
})

const asks: Agent = new Agent({
  name: 'asks',
  register: false,
  async *run(_, { ask }) {
    yield `it is ${yield* ask('size', { message: 'Which size?' })}`
  },
})

const stays: Agent = new Agent({
  name: 'stays',
  register: false,
  async *run(_, { signal }) {
    yield 'here'
    await new Promise(resolve => signal.addEventListener('abort', resolve))
  },
})

const pair: Team = new Team({ name: 'pair', register: false, members: [says], strategy: sequence })
const flow: Workflow = new Workflow({
  name: 'flow',
  register: false,
  run: () => 'done',
})

/** The handler of the service. `more` is what a deployment adds. */
export function handlerOn(state: State, settings = 'usual', more: HandlerOptions = {}): Handler {
  const keys = callerKeys({
    authenticate: bearerIdentity({ tokens: { [ADMIN]: 'root' } }),
    scopes: ['approver'],
    sharedRates: settings === 'shared',
    ...(settings === 'few' && { maxKeys: 3 }),
    cacheMs: settings === 'forgetful' ? BRIEF_MS : 30_000,
  })
  return createHandler({
    production: true,
    agents: { says, asks, stays },
    teams: { pair },
    workflows: { flow },
    registry: false,
    state,
    middleware: [keysAuth(keys, { tokens: { [OTHER]: 'other' } })],
    a2a: { default: 'says' },
    // `brisk` sockets are pinged often: an open one ends soon once its key is revoked.
    gateway: settings === 'brisk' ? { limits: { pingInterval: 300 } } : true,
    plugins: [
      keys,
      sessions(),
      agUi(),
      aiSdkUi(),
      openai({ path: '/openai/v1' }),
      mcp({ tools: ['says', 'asks'] }),
    ],
    ...more,
  })
}
