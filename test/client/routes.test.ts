import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import { bearerAuth, pausing } from '../../src/index.ts'
import { eventually } from '../eventually.ts'
import { drain, listenersOf, never } from '../support.ts'
import { answering, clientOf, createService, cutting, failure, metrics } from './kit.ts'

describe('the other routes', () => {
  it('list and tell', async () => {
    const tool = { name: 'add', description: 'Adds', execute: () => 1 }
    const service = createService({
      toolLibrary: { add: tool },
      metricsExporter: metrics(),
    })
    const client = clientOf(service.fetch)
    expect((await client.agents()).map(({ name }) => name)).toContain('echo')
    expect(await client.teams()).toEqual([])
    expect((await client.workflows()).map(({ name }) => name)).toEqual(['count'])
    expect((await client.registry()).workflows).toEqual(['count'])
    expect(await client.health()).toEqual({ status: 'ok', live: true, ready: true })
    expect(await client.tools.list()).toMatchObject([{ name: 'add' }])
    expect(await client.tools.get('add')).toMatchObject({ name: 'add', toolkit: null })
    expect((await failure(client.tools.get('a/b'))).code).toBe('tool_not_found')
    await client.agent('echo').run('x')
    expect((await client.metrics.json()).byAgent.echo?.runs).toBe(1)
    expect((await client.metrics.json('echo')).runs).toBe(1)
    expect((await failure(client.metrics.json('nobody'))).code).toBe('agent_not_found')
  })

  it('pause and resume', async () => {
    const client = clientOf(
      createService({ plugins: [pausing({ authenticate: () => ({ id: 'root' }) })] }).fetch,
    )
    const echo = { kind: 'agent', name: 'echo' } as const
    expect(await client.pause(echo, 'It loops')).toMatchObject({ ...echo, reason: 'It loops', by: 'root' })
    expect(await client.paused()).toMatchObject([{ ...echo, reason: 'It loops' }])
    expect((await client.agents()).find(({ name }) => name === 'echo')?.paused?.reason).toBe('It loops')
    expect((await failure(client.agent('echo').run('x', { follow: false }))).code).toBe('agent_paused')
    expect(await client.resume(echo)).toEqual(echo)
    expect((await client.agent('echo').run('x')).text).toContain('x')
    expect((await failure(clientOf(createService().fetch).paused())).code).toBe('not_found')
  })

  it('stream metrics, over lost connections, until they are left', async () => {
    const service = createService({ metricsExporter: metrics() })
    const network = cutting(service.fetch, ({ url }) =>
      url.endsWith('stream') ? { bytes: 8, closes: true } : 'never',
    )
    const client = clientOf(network, { maxTries: 2 })
    expect((await failure(client.metrics.stream().next())).code).toBe('network_error')
    const open = clientOf(service.fetch)
    const events = open.metrics.stream()
    const first = events.next()
    await eventually(async () => {
      await open.agent('echo').run('x')
      expect(
        await Promise.race([first.then(() => true), new Promise(resolve => setTimeout(resolve, 5))]),
      ).toBe(true)
    })
    expect((await first).value).toMatchObject({ agentName: 'echo', data: { kind: 'agent' } })
    const waiting = drain(events)
    await events.return?.()
    await waiting
    expect(await events.next()).toEqual({ done: true, value: undefined })
  })

  it('keep corrections, without sending one twice', async () => {
    const service = createService({ runs: { listAnonymous: true } })
    const { corrections } = clientOf(service.fetch).agent('echo')
    const kept = await corrections.add({ originalValue: 'Oslo', correctedValue: 'Bergen' })
    expect(await corrections.list({ limit: 5 })).toEqual({ corrections: [kept], nextCursor: null })
    const lost = clientOf(cutting(service.fetch, () => 'answer'))
    const again = lost.agent('echo').corrections.add({ originalValue: 1, correctedValue: 2 })
    expect((await failure(again)).code).toBe('network_error')
    expect((await corrections.list()).corrections).toHaveLength(2)
  })

  it('tell that a service cannot serve', async () => {
    const fetch = answering(() => new Response('{"status":"unavailable","ready":false}', { status: 503 }))
    expect(await clientOf(fetch).health()).toMatchObject({ status: 'unavailable' })
    expect((await failure(clientOf(() => Promise.reject(new Error())).health())).code).toBe('network_error')
  })

  it('let go of an answer that does not come', async () => {
    const leaving = new AbortController()
    const call = failure(clientOf(never).agents({ signal: leaving.signal }))
    leaving.abort('enough')
    expect(await call).toBe('enough')
    expect(listenersOf(leaving.signal)).toBe(0)
    expect((await failure(clientOf(never).agents({ timeoutMs: 1 }))).code).toBe('timeout')
  })
})

describe('runs', () => {
  const service = createService({ middleware: [bearerAuth({ tokens: { 'let-me-in': 'ada' } })] })
  const headers = { authorization: 'Bearer let-me-in' }
  const { runs } = createClient({ baseUrl: 'http://service.test/api/', fetch: service.fetch, headers })

  it('start, are read, waited for and listed, page after page', async () => {
    const records = await Promise.all(
      ['1', '2', '3'].map(input => runs.start({ kind: 'agent', name: 'counts' }, input)),
    )
    expect(records[0]).toMatchObject({ kind: 'agent', name: 'counts' })
    const [first] = records
    expect((await runs.result(first!.id)).finishReason).toBe('stop')
    expect((await runs.get(first!.id)).status).toBe('completed')
    expect((await runs.list({ limit: 2, kind: 'agent' })).runs).toHaveLength(2)
    const all = await drain(runs.all({ limit: 1 }))
    const { id, createdAt } = all[0]!
    expect((await runs.list({ since: new Date(createdAt), limit: 1 })).runs.map(run => run.id)).toEqual([id])
    const { events, next, ended } = await runs.events(first!.id, { after: 1 })
    expect([events.map(each => [each.id, each.event.type]), next, ended]).toEqual([[[2, 'finish']], 2, true])
    expect(all.map(({ id }) => id).sort()).toEqual(records.map(({ id }) => id).sort())
  })

  it('are cancelled once', async () => {
    const { id } = await runs.start({ kind: 'agent', name: 'gated' }, 'x')
    expect((await runs.cancel(id)).status).toBe('cancelled')
    expect((await runs.cancel(id)).status).toBe('cancelled')
    const ended = await runs.start({ kind: 'agent', name: 'echo' }, 'x')
    await runs.result(ended.id)
    expect((await failure(runs.cancel(ended.id))).code).toBe('run_ended')
    expect((await failure(runs.get('nothing'))).code).toBe('run_not_found')
  })

  it('are followed from anywhere, and leaving stops nothing', async () => {
    const { id } = await runs.start({ kind: 'agent', name: 'counts' }, '5')
    for await (const _ of runs.stream(id)) break
    expect((await runs.result(id)).finishReason).toBe('stop')
    expect(await drain(runs.stream(id))).toHaveLength(6)
    const stream = runs.stream(id, { after: 5 })
    expect(await drain(stream)).toMatchObject([{ type: 'finish' }])
    expect([stream.runId, stream.lastEventId]).toEqual([id, 6])
    expect(await drain(runs.stream(id, { after: 6 }))).toEqual([])
  })

  it('belong to those who may', async () => {
    const stranger = clientOf(service.fetch)
    expect(await failure(stranger.runs.list())).toMatchObject({ code: 'unauthorized', status: 401 })
  })
})
