/** Agents, and the examples' plugin, which the test takes from the packed library. */
import { chatSocket } from '../../../examples/chat-socket.ts'
import { ndjson } from '../../../examples/ndjson.ts'
import {
  Agent,
  createHandler,
  type Handler,
  keeping,
  type Plugin,
  ServableError,
  type State,
} from '../../../src/core-entry.ts'

let stopped = 0

const counting = new Agent({
  name: 'counting',
  async *run() {
    yield* ['one ', 'two ', 'three']
  },
})

/** Speaks until its reader leaves. */
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

const things = keeping({
  reads: {
    get: (kept, collection: string, id: string) => kept.get(collection, id) ?? null,
    list: (kept, collection: string) => kept.list(collection, { limit: 1000 }).map(({ id }) => id),
    count: (kept, collection: string) => kept.count(collection),
  },
  writes: {
    put(kept, collection: string, id: string, value: unknown, expiresAt?: number) {
      kept.put(collection, id, value, expiresAt === undefined ? {} : { expiresAt })
    },
    spoil(kept, collection: string, id: string) {
      kept.delete(collection, id)
      throw new ServableError('forbidden', 'Not so')
    },
  },
})

interface Call {
  readonly method: 'get' | 'list' | 'count' | 'put' | 'spoil'
  readonly args: readonly string[]
}

/** An endpoint for the stored data of a plugin, one call a request. */
const shelf: Plugin = {
  name: 'shelf',
  kept: things,
  mount(core) {
    const calls: Record<Call['method'], (...args: never[]) => Promise<unknown>> = core.calls(things)
    return {
      routes: [
        {
          method: 'POST',
          path: '/shelf',
          async endpoint(request) {
            const { method, args }: Call = await request.json()
            return Response.json({ value: await calls[method](...(args as never[])) })
          },
        },
      ],
    }
  },
}

export function handlerOver(state: State): Handler {
  return createHandler({
    agents: { counting, endless, stops },
    state,
    logger: false,
    plugins: [ndjson(), chatSocket(), shelf],
  })
}
