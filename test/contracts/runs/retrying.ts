/** Runs that run again, with changes or after a step: the service keeps inputs and journals. */
import { expect, it } from 'vitest'
import type { RunEventPage } from '../../../src/client/index.ts'
import { expectProblem } from '../http/client.ts'
import { accept, as, ask, ended, own, post, type Server } from './client.ts'

/** `isVolatile` is whether nothing is kept of the work of runs. */
export function retryCases(server: Server, isVolatile: boolean): void {
  it('takes another input and another session', async () => {
    const owner = as(own('owner'))
    const { id } = await accept(server, 'workflows/count', { input: 'a b', sessionId: 'one' }, owner)
    await ended(server, id, owner)
    const again = async (body: object) => {
      const answer = await post(server, `/api/runs/${id}/retry`, body, owner)
      return ended(server, answer.headers.get('x-run-id') ?? '', owner)
    }
    const other = await again({ input: 'a b c', sessionId: 'two' })
    expect(other).toMatchObject({ retryOf: id, sessionId: 'two', result: { text: '3 words' } })
    const none = await again({ sessionId: null })
    expect(none).toMatchObject({ retryOf: id, result: { text: '2 words' } })
    expect(none).not.toHaveProperty('sessionId')
  })

  it(isVolatile ? 'has no step to go on from' : 'goes on after a step', async () => {
    const owner = as(own('owner'))
    const { id } = await accept(server, 'workflows/count', { input: 'a b' }, owner)
    await ended(server, id, owner)
    const from = (step: string, headers = owner) =>
      post(server, `/api/runs/${id}/retry`, { from: step }, headers)
    if (isVolatile) return expectProblem(server, await from('split'), 409, 'not_resumable')
    const { headers } = await from('split')
    const next = headers.get('x-run-id') ?? ''
    expect(await ended(server, next, owner)).toMatchObject({ retryOf: id, result: { text: '2 words' } })
    const page = await ask(server, `/api/runs/${next}/events`, { headers: owner })
    const { events }: RunEventPage = JSON.parse(page.text)
    const steps = events.flatMap(({ event }) =>
      event.type === 'step' ? [`${event.name} ${event.status}`] : [],
    )
    expect(steps).toEqual(['count started', 'count completed'])
    await expectProblem(server, await from('count', as(own('other'))), 404, 'run_not_found')
    await expectProblem(server, await from('nothing'), 400, 'invalid_body')
    await expectProblem(
      server,
      await post(server, `/api/runs/${id}/retry`, { from: 'split', input: 'c' }, owner),
      400,
      'invalid_body',
    )
  })
}
