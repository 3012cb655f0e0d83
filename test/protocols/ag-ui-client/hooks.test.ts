/** What the hooks of the runner answer for CopilotKit's runtime. */
import { describe, expect, it } from 'vitest'
import { ServableAgent, servableRunner } from '../../../src/protocols/ag-ui-client/index.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { eventually } from '../../eventually.ts'
import { last, ORIGIN, Runtime, says, serviceWith } from './runtime.ts'

describe('a request to stop', () => {
  it('counts in the name of whoever sent it, in any process', async () => {
    const { handler, left } = serviceWith()
    const first = new Runtime(handler)
    const own = first.run('t', 'a')
    const others = first.run('t', 'b', { who: 'bob' })
    await Promise.all([says(own, 'a: one '), says(others, 'b: one ')])
    const runtime = new Runtime(handler)
    const none = { status: 200, stopped: false, message: expect.any(String) }
    expect(await first.asksToStop('t', { who: 'eve' })).toEqual(none)
    expect(await first.asksToStop('t', { who: 'eve', runId: 'run-a' })).toEqual(none)
    expect(await runtime.asksToStop('t', { who: 'eve', runId: 'run-a' })).toEqual(none)
    expect(left).toEqual([])
    expect(await runtime.asksToStop('t')).toEqual({ status: 200, stopped: true })
    await own.ended
    expect(left).toEqual(['a'])
    expect(await first.asksToStop('t', { who: 'bob', runId: 'run-b' })).toEqual({
      status: 200,
      stopped: true,
    })
    await others.ended
  })

  it('has the authorization of its page, and first what the agent itself has', async () => {
    const asked: (string | null)[] = []
    const fetch = async (url: string, init: RequestInit) => {
      asked.push(new Request(url, init).headers.get('authorization'))
      return Response.json({ runs: [] })
    }
    const url = `${ORIGIN}/api/teams/pair/ag-ui`
    const agents = {
      page: new ServableAgent({ url, fetch } as never),
      own: new ServableAgent({ url, fetch, headers: { Authorization: 'Bearer own' } } as never),
    }
    const { hooks } = servableRunner({ agents })
    for (const agentId of ['page', 'own']) {
      const request = new Request('http://runtime.test/', jsonRequest({}, { authorization: 'Bearer page' }))
      await hooks
        .onBeforeHandler({ request, route: { method: 'agent/stop', agentId, threadId: 't' } })
        .catch(() => {})
    }
    expect(asked).toEqual(['Bearer page', 'Bearer own'])
  })

  it('ends a run that nothing stores, for its own page alone', async () => {
    const { handler, left } = serviceWith({})
    const runtime = new Runtime(handler)
    const one = runtime.run('t', 'a')
    await says(one, 'a: one ')
    const stopped = async (who: string, runId?: string) =>
      (await runtime.asksToStop('t', { who, runId })).stopped
    expect([await stopped('eve', 'run-a'), await stopped('', 'run-a'), await stopped('ann')]).toEqual([
      false,
      false,
      false,
    ])
    expect([await stopped('ann', 'run-a'), last(one)?.type]).toEqual([true, 'TEXT_MESSAGE_CONTENT'])
    await one.ended
    await eventually(() => expect(left).toEqual(['a']))
  })

  it('is answered by the runtime if it is none, or of another agent', async () => {
    const { handler } = serviceWith()
    const runtime = new Runtime(handler)
    expect(await runtime.asksToStop('t', { agentId: 'constructor' })).toBeUndefined()
    const request = new Request('http://runtime.test/', { method: 'POST', body: '{"runId":1}' })
    const route = { method: 'agent/stop', agentId: 'talks', threadId: 't' }
    expect(await runtime.runner.hooks.onBeforeHandler({ request, route })).toBeUndefined()
    const run = { method: 'agent/run', agentId: 'talks' }
    expect(await runtime.runner.hooks.onBeforeHandler({ request, route: run })).toBeUndefined()
  })

  it('says that the service cannot be reached', async () => {
    const runtime = new Runtime((async () => {
      throw new TypeError('away')
    }) as never)
    expect(await runtime.asksToStop('t')).toMatchObject({ status: 502, error: 'Failed to stop agent' })
  })
})
