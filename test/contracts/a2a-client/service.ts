/** The service whose agents are those of other services. */
import { remoteAgent } from '../../../src/adapters/a2a-client/index.ts'
import {
  createHandler,
  type Handler,
  type State,
  sequence,
  steps,
  Team,
  Workflow,
} from '../../../src/index.ts'
import { identify } from '../identify.ts'
import { WAYS } from './ways.ts'

/** Where the others are. */
export interface Others {
  /** The server of the cards. */
  readonly cards: string
  readonly servable: string
  readonly reference: string
}

const BOUNDS = { requestTimeoutMs: 4000, pollMs: 50, cancelTimeoutMs: 2000 } as const

/** The names of the agents of hostile services. */
export const HOSTILE = 'hostile'

/** The handler of the service. Its settings are {@link Others} as JSON. */
export function handlerOn(state: State, settings = '{}'): Handler {
  const { cards, ...others } = JSON.parse(settings) as Others
  const allow = ['127.0.0.1']
  const origins = Object.values(others)
  const agents = Object.keys(WAYS).map(name =>
    remoteAgent({
      ...{ url: `${cards}/${name}`, name, allow, origins, register: false, ...BOUNDS },
      headers: ({ userId = 'nobody' }) => ({ authorization: `Bearer token-of-${userId}` }),
    }),
  )
  const [first, second] = agents
  const hostile = remoteAgent({
    ...{ url: `${cards}/hostile`, name: HOSTILE, allow, register: false, ...BOUNDS },
    ...{ maxBytes: 100_000, maxStreamBytes: 300_000, silenceMs: 300 },
  })
  const flow = new Workflow({
    name: 'flow',
    register: false,
    steps: steps()
      .step('first', async function* (input, { call }) {
        return yield* call(first!, input)
      })
      .step('second', async function* ({ text }, { call }) {
        return yield* call(second!, `words ${text}`)
      }),
  })
  const team = new Team({ name: 'team', register: false, members: [first!, second!], strategy: sequence })
  return createHandler({
    ...{ registry: false, logger: false, state, middleware: [identify] },
    agents: Object.fromEntries([...agents, hostile].map(agent => [agent.name, agent])),
    ...{ workflows: { flow }, teams: { team } },
    runs: { maxRunning: 1000, maxRunningPerOwner: 1000 },
  })
}
