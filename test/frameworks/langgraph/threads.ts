/** Routes over the threads of graphs: their state, their history, and updates. */
import { callerOf, type Plugin, type RunEvent } from '../../../src/core-entry.ts'

export const threads: Plugin = {
  name: 'threads',
  mount: core => ({
    routes: (['state', 'history', 'update', 'run'] as const).map(act => ({
      method: 'POST',
      path: `${core.prefix}/threads/:name/:id/${act}`,
      async endpoint(request, context) {
        const { name = '', id = '' } = context.params
        const entry = core.catalog.find('agent', name)
        const { at, query, values, how, options, input } = await request.json()
        if (entry === undefined) return Response.json(null, { status: 404 })
        const target = { kind: 'agent' as const, name, servable: entry.servable }
        const caller = callerOf(core, request, context)
        if (act === 'run') {
          const metadata = { checkpoints: true }
          const started = await caller.start({ target, input, sessionId: id, metadata })
          const events: RunEvent[] = []
          for await (const event of started.events()) events.push(event)
          return Response.json(events)
        }
        const thread = caller.sessions.graph({ target, id })
        if (thread === undefined) return Response.json(null)
        if (act === 'state') return Response.json(await thread.getState(at, options))
        if (act === 'history') return Response.json(await thread.history(query))
        return Response.json(await thread.updateState(values, how))
      },
    })),
  }),
}
