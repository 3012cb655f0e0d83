/** The service of the contract of schedules. Every runtime serves it with a state of its own. */

import { schedule, schedules } from '../../../src/features/schedules/plugin.ts'
import {
  Agent,
  bearerIdentity,
  createHandler,
  type Handler,
  type HandlerOptions,
  type State,
} from '../../../src/index.ts'
import { identify } from '../identify.ts'

/** The token of the administrator. */
export const ADMIN = 'the-token-of-the-administrator'

/** Says which tick it is of, whose it is, and what it was told. */
const ticks = new Agent({
  name: 'ticks',
  register: false,
  run(input, { metadata, identity, sessionId }) {
    const { name, tick } = Object(metadata?.schedule) as { name?: string; tick?: string }
    return JSON.stringify({ name, tick, input, identity, sessionId })
  },
})

/** Never ends by itself. */
const stuck = new Agent({
  name: 'stuck',
  register: false,
  run: (_, { signal }) =>
    new Promise<string>(resolve => signal.addEventListener('abort', () => resolve('left'))),
})

const always = '* * * * * *'

const ALL = [
  schedule(ticks, { cron: always, input: 'now', owner: 'ada', name: 'seconds' }),
  schedule({ agent: 'ticks' }, { cron: always, input: 'and', owner: 'bob', name: 'others', sessionId: 's' }),
  schedule('stuck', { cron: always, input: 'x', owner: 'eve' }),
  schedule('ticks', { cron: '0 0 1 1 *', timezone: 'Asia/Tokyo', input: 'new year', owner: 'ada' }),
]

/** The handler of the service; the settings are the names of its schedules, if not all. `more` is what a deployment adds. */
export function handlerOn(state: State, settings = 'usual', more: HandlerOptions = {}): Handler {
  const names = settings.split(',')
  const list = settings === 'usual' ? ALL : ALL.filter(({ name }) => names.includes(name))
  return createHandler({
    production: true,
    ...(!more.registry && { agents: { ticks, stuck } }),
    state,
    middleware: [identify],
    runs: { maxRunningPerOwner: 2 },
    plugins: [schedules(list, { authenticate: bearerIdentity({ tokens: { [ADMIN]: 'admin' } }) })],
    ...more,
  })
}

/** The agents of the service. */
export const AGENTS: readonly Agent[] = [ticks, stuck]
