/** The chat of the examples, and WebSockets at the bounds of the interface. Every runtime serves them with a state of its own. */
import { chatSocket } from '../../../examples/chat-socket.ts'
import {
  Agent,
  callerOf,
  createHandler,
  type Handler,
  type Plugin,
  type State,
  socketRoute,
  textOf,
  tool,
} from '../../../src/core-entry.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import { identify } from '../identify.ts'

let stopped = 0

const pay = tool({ name: 'pay', needsApproval: true, execute: () => 'paid' })

/** Says the numbers to the one that it is asked for, slowly. */
const counting = new Agent({
  name: 'counting',
  register: false,
  async *run(input, { signal }) {
    for (let number = 1; number <= Number(textOf(input)) && !signal.aborted; number++) {
      yield `${number} `
      await new Promise(resolve => setTimeout(resolve, 10))
    }
  },
})

const pays = new Agent({
  name: 'pays',
  register: false,
  tools: [pay],
  async *run(_, { callTool }) {
    yield 'so '
    yield String(yield* callTool(pay, {}))
  },
})

/** Speaks until its reader leaves. */
const endless = new Agent({
  name: 'endless',
  register: false,
  async *run(_, { signal }) {
    signal.addEventListener('abort', () => stopped++)
    while (!signal.aborted) {
      yield 'again '
      await new Promise(resolve => setTimeout(resolve, 10))
    }
  },
})

const stops = new Agent({ name: 'stops', register: false, run: () => String(stopped) })

const edges: Plugin = {
  name: 'edges',
  mount: core => ({
    routes: [
      // Says what it gets, in the order in which it came, although the first messages take longest.
      socketRoute(core, {
        path: '/edges/echo',
        maxBytes: 100,
        open: () => ({
          open: socket => socket.send('hello'),
          async message(data, socket) {
            if (data === 'throw') throw new Error('secret')
            await new Promise(resolve => setTimeout(resolve, Math.max(0, 20 - Number(data))))
            socket.send(data)
          },
        }),
      }),
      socketRoute(core, { path: '/edges/one', maxSockets: 1, open: () => ({ message: () => undefined }) }),
      socketRoute(core, {
        path: '/edges/refused',
        open(request, context) {
          callerOf(core, request, context)
          core.catalog.resolve('agent', 'nobody')
          return { message: () => undefined }
        },
      }),
      socketRoute(core, {
        path: '/edges/broken',
        open: () => ({
          open: () => {
            throw new Error('secret')
          },
          message: (_, socket) => socket.send('never'),
        }),
      }),
    ],
  }),
}

export function handlerOn(state: State, _settings?: string): Handler {
  return createHandler({
    agents: { counting, pays, endless, stops },
    registry: false,
    state,
    logger: false,
    middleware: [identify],
    plugins: [sessions(), chatSocket(), edges],
  })
}
