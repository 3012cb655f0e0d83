/** The list of runs as it changes. */
import { expect, it } from 'vitest'
import { createClient, type RunListEvent } from '../../../src/client/index.ts'
import { expectProblem } from '../http/client.ts'
import { watching } from '../http/watching.ts'
import { accept, acceptGated, as, ask, cancel, ended, openGate, own, type Server } from './client.ts'

type Owner = ReturnType<typeof as>

type AtEnd = Parameters<typeof watching>[2]

const watch = (server: Server, owner: Owner, atEnd: AtEnd, query = '') =>
  watching<RunListEvent>(`${server().url}/api/runs${query}`, owner, atEnd)

/** The type of an event and the ids in it. */
function told(event: RunListEvent): string[] {
  if (event.type === 'all') return [event.type, ...event.runs.map(({ id }) => id)]
  return event.type === 'removed' ? [event.type, event.id] : [event.type, event.run.id, event.run.status]
}

export function liveCases(server: Server): void {
  it('tells the newest page, then what comes and what changes', async ({ onTestFinished }) => {
    const owner = as(own('owner'))
    const first = await acceptGated(server, owner)
    const next = await watch(server, owner, onTestFinished)
    const { id, event } = await next()
    expect([id, told(event)]).toEqual(['1', ['all', first.id]])
    expect(event).toMatchObject({ hasMore: false })
    const second = await acceptGated(server, owner)
    expect(told((await next()).event)).toEqual(['added', second.id, 'running'])
    await openGate(server, first.gate)
    const { event: changed } = await next()
    expect(told(changed)).toEqual(['changed', first.id, 'completed'])
    expect(changed).not.toHaveProperty('run.result')
    await cancel(server, second.id, owner)
    const last = await next()
    expect([last.id, told(last.event)]).toEqual(['4', ['changed', second.id, 'cancelled']])
  })

  it('tells what leaves a filter, and of no run that newer ones push out', async ({ onTestFinished }) => {
    const owner = as(own('owner'))
    const other = await acceptGated(server, as(own('other')))
    const first = await acceptGated(server, owner)
    const next = await watch(server, owner, onTestFinished, '?status=running')
    const newest = await watch(server, owner, onTestFinished, '?limit=1')
    expect(told((await next()).event)).toEqual(['all', first.id])
    expect(told((await newest()).event)).toEqual(['all', first.id])
    const second = await accept(server, 'agents/echo', { input: 'x' }, owner)
    await ended(server, second.id, owner)
    const seen = told((await newest()).event)
    expect(seen.slice(0, 2)).toEqual(['added', second.id])
    await cancel(server, first.id, owner)
    let event = told((await next()).event)
    // A look may have come while the second one was at work.
    while (event[1] === second.id) event = told((await next()).event)
    expect(event).toEqual(['removed', first.id])
    await cancel(server, other.id)
  })

  it('is watched with the client', async () => {
    const owner = as(own('owner'))
    const { id } = await acceptGated(server, owner)
    const client = createClient({ baseUrl: `${server().url}/api`, headers: owner })
    const types: string[] = []
    for await (const event of client.runs.watch({ status: 'running', since: new Date(0) })) {
      types.push(event.type)
      if (event.type === 'removed') break
      await cancel(server, id, owner)
    }
    expect(types).toEqual(['all', 'removed'])
  })

  it('needs what the list needs', async () => {
    const headers = { accept: 'text/event-stream' }
    await expectProblem(server, await ask(server, '/api/runs', { headers }), 404, 'not_found')
    const wrong = await ask(server, '/api/runs?limit=0', { headers: { ...headers, ...as(own('owner')) } })
    await expectProblem(server, wrong, 400, 'invalid_query')
  })
}
