/** Agents, and the plugin of the examples, which the test has from the packed library. */
import { ndjson } from '../../../examples/ndjson.ts'
import { Agent, createHandler, type Handler, type State } from '../../../src/core-entry.ts'

let stopped = 0

const counting = new Agent({
  name: 'counting',
  async *run() {
    yield* ['one ', 'two ', 'three']
  },
})

/** Speaks until nobody listens. */
const endless = new Agent({
  name: 'endless',
  async *run(_, { signal }) {
    signal?.addEventListener('abort', () => stopped++)
    while (signal?.aborted !== true) {
      yield 'again '
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  },
})

const stops = new Agent({ name: 'stops', run: () => String(stopped) })

export function handlerOver(state: State): Handler {
  return createHandler({ agents: { counting, endless, stops }, state, logger: false, plugins: [ndjson()] })
}
