/** Routes over the threads of graphs: their state, their history, updates, and runs that tell of checkpoints. */
import {
  type Caller,
  callerOf,
  type GraphThread,
  type Plugin,
  type RunEvent,
  type SessionOf,
} from '../../../src/core-entry.ts'

async function ran(caller: Caller, { target, id }: SessionOf, input: string): Promise<RunEvent[]> {
  const metadata = { checkpoints: true, graphInput: { seen: ['from outside'], messages: [] } }
  const started = await caller.start({ target, input, sessionId: id, metadata })
  const events: RunEvent[] = []
  for await (const event of started.events()) events.push(event)
  return events
}

const ACTS: Readonly<Record<string, (thread: GraphThread | undefined, asked: Asked) => Promise<unknown>>> = {
  state: async (thread, { at, options }) => thread?.getState(at, options),
  history: async (thread, { query }) => thread?.history(query),
  update: async (thread, { values, how }) => thread?.updateState(values, how),
}

interface Asked {
  readonly at?: Parameters<GraphThread['getState']>[0]
  readonly options?: Parameters<GraphThread['getState']>[1]
  readonly query?: Parameters<GraphThread['history']>[0]
  readonly values?: unknown
  readonly how?: Parameters<GraphThread['updateState']>[1]
  readonly input?: string
}

export const threads: Plugin = {
  name: 'threads',
  mount: core => ({
    routes: ['state', 'history', 'update', 'run'].map(act => ({
      method: 'POST',
      path: `${core.prefix}/threads/:name/:id/${act}`,
      async endpoint(request, context) {
        const { name = '', id = '' } = context.params
        const target = core.catalog.resolve('agent', name)
        const caller = callerOf(core, request, context)
        const asked: Asked = await request.json()
        const work = ACTS[act]
        const given = await (work === undefined
          ? ran(caller, { target, id }, asked.input ?? '')
          : work(caller.sessions.graph({ target, id }), asked))
        return Response.json(given ?? null)
      },
    })),
  }),
}
