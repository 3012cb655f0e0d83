/** Routes over the threads of graphs: their state, their history, and updates. */
import { callerOf, type Plugin } from '../../../src/core-entry.ts'

export const threads: Plugin = {
  name: 'threads',
  mount: core => ({
    routes: (['state', 'history', 'update'] as const).map(act => ({
      method: 'POST',
      path: `${core.prefix}/threads/:name/:id/${act}`,
      async endpoint(request, context) {
        const { name = '', id = '' } = context.params
        const entry = core.catalog.find('agent', name)
        const { at, query, values, how, options } = await request.json()
        if (entry === undefined) return Response.json(null, { status: 404 })
        const target = { kind: 'agent' as const, name, servable: entry.servable }
        const thread = callerOf(core, request, context).sessions.graph({ target, id })
        if (thread === undefined) return Response.json(null)
        if (act === 'state') return Response.json(await thread.getState(at, options))
        if (act === 'history') return Response.json(await thread.history(query))
        return Response.json(await thread.updateState(values, how))
      },
    })),
  }),
}
