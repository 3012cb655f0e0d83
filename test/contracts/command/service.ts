/** The service that the contract of the command asks. Every runtime serves it with the state of its own. */

import { sessions } from '../../../src/features/sessions/plugin.ts'
import {
  Agent,
  bearerAuth,
  createHandler,
  type Handler,
  pausing,
  type State,
  textOf,
} from '../../../src/index.ts'
import { sleep } from '../fixture/record.ts'

/** What a hostile agent would send a terminal: a title, a color, a cleared screen, text from right to left. */
export const HOSTILE = '\u001b]0;owned\u0007 \u001b[2J \u009b31m \u202egnp.exe'

const gates = new Set<string>()

const add = {
  name: 'add',
  parameters: { type: 'object' },
  execute: (args: unknown) => (args as { a: number }).a + 1,
}

const agents = {
  echo: new Agent({ name: 'echo', register: false, run: input => textOf(input) }),
  /** Says what it is told, with a tool call before and numbers after. */
  says: new Agent({
    name: 'says',
    register: false,
    tools: [add],
    async *run(input, { callTool }) {
      const text = textOf(input)
      if (text === 'fails') throw new Error('the vault is empty')
      yield `you said ${text}\n`
      const result = yield* callTool('add', { a: 1 })
      yield `and ${result}`
      yield {
        type: 'finish',
        finishReason: 'stop',
        usage: { promptTokens: 3, completionTokens: 5, totalTokens: 8, cost: 0.0125 },
      }
    },
  }),
  /** Says something at once, and the rest when the gate of its input opens. */
  waits: new Agent({
    name: 'waits',
    register: false,
    async *run(input, { signal }) {
      yield 'waiting '
      while (!gates.has(textOf(input)) && !signal.aborted) await sleep(10)
      yield 'no more'
    },
  }),
  opens: new Agent({
    name: 'opens',
    register: false,
    run(input) {
      gates.add(textOf(input))
      return 'open'
    },
  }),
  hostile: new Agent({ name: 'hostile', register: false, run: () => HOSTILE }),
}

/** Makes the service. Ada and Bob may call it, with the tokens `for-ada` and `for-bob`. */
export function handlerOn(state: State): Handler {
  return createHandler({
    agents,
    registry: false,
    state,
    production: true,
    middleware: [
      bearerAuth({
        tokens: {
          'for-ada': 'ada',
          'for-bob': 'bob',
          'for-cid': { id: 'cid', tenant: 'acme' },
          'for-root': { id: 'root', roles: ['admin'] },
          'for-eve': { id: 'eve', roles: ['operator'] },
        },
      }),
    ],
    runs: { measure: true, store: 'all', disconnect: 'continue' },
    plugins: [sessions(), pausing()],
  })
}
