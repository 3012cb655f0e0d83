/** The service of the contract of sessions. Every runtime serves it with the state of its own. `/probe` opens gates. */
import { toAgent } from '../../../src/adapters/frameworks/index.ts'
import { files } from '../../../src/features/files/plugin.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import {
  Agent,
  createHandler,
  type Handler,
  type HandlerOptions,
  type RunsOptions,
  type State,
  sequence,
  Team,
  textOf,
} from '../../../src/index.ts'
import { sleep } from '../fixture/record.ts'
import { identify } from '../identify.ts'
import { Graph } from './graph.ts'

const gates = new Set<string>()

/** Repeats what it is told, and says how much it knows of before; of `waits` it waits for a gate first. */
export const talks: Agent = new Agent({
  name: 'talks',
  register: false,
  async *run(input, { memory, signal }) {
    const text = textOf(input)
    if (text === 'fails') throw new Error('the vault is empty')
    yield `you said ${text}`
    const [, gate] = /^waits (\S+)/.exec(text) ?? []
    while (gate !== undefined && !gates.has(gate) && !signal.aborted) await sleep(10)
    yield ` (${(await memory?.session()?.read())?.length ?? 'nothing'})`
  },
})

/** Takes messages once its gate is open. */
const steered: Agent = new Agent({
  name: 'steered',
  register: false,
  steering: true,
  async *run(input, { signal, steering }) {
    const [, gate] = /^waits (\S+)/.exec(textOf(input)) ?? []
    while (gate !== undefined && !gates.has(gate) && !signal.aborted) await sleep(10)
    const news = yield* steering.take()
    yield [input, ...news.map(message => message.input)].join(', ')
  },
})

const other = new Agent({ name: 'other', register: false, run: () => 'other' })

/** Remembers how often it was called, as a member. */
const counts: Agent = new Agent({
  name: 'counts',
  register: false,
  async run(_, { memory }) {
    const session = memory?.session(counts)
    await session?.append(['call'])
    return String((await session?.read())?.length)
  },
})

/** How sessions leave. */
const SETTINGS: Readonly<Record<string, RunsOptions>> = {
  usual: {},
  few: { maxSessions: 3 },
  brief: { sessionRetentionMs: 1500 },
}

/** The options of the service. */
export function sessionsOptions(state: State, settings = 'usual'): HandlerOptions {
  return {
    production: true,
    // One name has what a path must escape.
    agents: { talks, steered, graph: toAgent(new Graph()), 'a/b %': other },
    teams: {
      counting: new Team({ name: 'counting', members: [counts], strategy: sequence, register: false }),
    },
    state,
    cors: ['https://app.example'],
    middleware: [identify],
    runs: { store: 'asked', ...SETTINGS[settings] },
    plugins: [sessions(), files()],
  }
}

/** The handler of the service. `more` is what a deployment adds. */
export function handlerOn(state: State, settings = 'usual', more: HandlerOptions = {}): Handler {
  return createHandler({
    ...sessionsOptions(state, settings),
    fallback(request) {
      gates.add(new URL(request.url).searchParams.get('gate') ?? '')
      return new Response('open')
    },
    ...more,
  })
}
