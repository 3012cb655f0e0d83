/** Who is told of what. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { accept, as, delivered, deliveries, own, post, send, subscribed, type Told } from './client.ts'
import { verified } from './receiver.ts'
import { SECRETS } from './service.ts'

/** The events that a receiver was told of a run, at a path. */
export async function toldOf(
  told: Told,
  path: string,
  secret: string,
  runId: string,
  types: readonly string[],
) {
  const { receiver } = told
  const ofRun = () =>
    receiver()
      .payloads(path, secret)
      .filter(({ data }) => data.runId === runId)
  await eventually(() => expect(ofRun().map(({ type }) => type)).toEqual(types))
  return ofRun()
}

const ALL = '/all?token=secret'

export function tellingCases(told: Told): void {
  const { server, receiver } = told

  it('tells of a run that has completed, and of nothing that it said', async () => {
    const ann = own('ann')
    const { id } = await accept(server, 'agents/echo', { input: 'a secret', sessionId: 's1' }, as(ann))
    const [payload] = await toldOf(told, ALL, SECRETS.all, id, ['run.completed'])
    expect(payload).toEqual({
      type: 'run.completed',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: {
        ...{ runId: id, kind: 'agent', name: 'echo', status: 'completed', finishReason: 'stop' },
        ...{ sessionId: 's1', userId: ann, owner: ann, createdAt: expect.any(String) },
      },
    })
    const [request] = receiver()
      .requests(ALL)
      .filter(({ body }) => body.includes(id))
    // Of two secrets of one subscription, each signs.
    expect(verified(request!, SECRETS.failures)).toEqual(payload)
    expect(request?.headers['webhook-id']).not.toContain('.')
  })

  it('tells of runs that fail, are cancelled, and wait', async () => {
    const failed = await accept(server, 'agents/fails', { input: 'x' })
    const [why] = await toldOf(told, '/failures', SECRETS.failures, failed.id, ['run.failed'])
    expect(why?.data).toMatchObject({ owner: null, error: { code: 'agent_failed' } })
    expect(JSON.stringify(why)).not.toContain('this is secret')

    const { id } = await accept(server, 'agents/stays', { input: 'x' })
    expect((await post(server, `/api/runs/${id}/cancel`, {})).status).toBe(200)
    await toldOf(told, ALL, SECRETS.all, id, ['run.cancelled'])

    const waiting = await accept(server, 'agents/pays', { input: 'x' })
    await toldOf(told, ALL, SECRETS.all, waiting.id, ['run.input_required'])
    expect((await post(server, `/api/runs/${waiting.id}/cancel`, {})).status).toBe(200)
    await toldOf(told, ALL, SECRETS.all, waiting.id, ['run.input_required', 'run.cancelled'])
  })

  it('tells of a plain run that waits, and of the one that goes on', async () => {
    const ann = own('ann')
    const answer = await post(server, '/api/agents/pays/run', { input: 'x' }, as(ann))
    const { runId, requests } = JSON.parse(answer.text)
    await toldOf(told, ALL, SECRETS.all, runId, ['run.input_required'])
    const answers = [{ id: requests[0].id, decision: 'approve' }]
    const next = await post(server, `/api/runs/${runId}/answers`, { answers }, as(ann))
    expect(next.status, next.text).toBe(200)
    const nextId = next.headers.get('x-run-id') ?? ''
    const [payload] = await toldOf(told, ALL, SECRETS.all, nextId, ['run.completed'])
    expect(payload?.data.continuedFrom).toBe(runId)
  })

  it('tells subscriptions with contents what was said', async () => {
    const { id } = await accept(server, 'agents/echo', { input: 'a b' })
    const [payload] = await toldOf(told, '/contents', SECRETS.contents, id, ['run.completed'])
    expect(payload?.data.result?.text).toBe('a b')
    const long = await accept(server, 'agents/echo', { input: 'x'.repeat(70_000) })
    const [cut] = await toldOf(told, '/contents', SECRETS.contents, long.id, ['run.completed'])
    expect(cut?.data).toMatchObject({ truncated: true })
    expect(cut?.data.result).toBeUndefined()
  })

  it('tells by agent and owner', async () => {
    const path = `/${own('mine')}`
    const [ann, bob] = [own('ann'), own('bob')]
    const { id, secret } = await subscribed(told, ann, path, { events: ['run.completed'], agents: ['echo'] })
    await accept(server, 'agents/echo', { input: 'x' }, as(bob))
    await accept(server, 'agents/fails', { input: 'x' }, as(ann))
    const { id: runId } = await accept(server, 'agents/echo', { input: 'x' }, as(ann))
    const [payload] = await toldOf(told, path, secret, runId, ['run.completed'])
    expect(payload?.data).not.toHaveProperty('owner')
    expect(receiver().requests(path)).toHaveLength(1)
    await delivered(server, id, ann, { runId, status: 'delivered', tries: 1 })
    expect(await deliveries(server, id, ann)).toHaveLength(1)
    const ofAnn = await accept(server, 'agents/echo', { input: 'x' }, as('ann'))
    await toldOf(told, '/anns-echo', SECRETS.annsEcho, ofAnn.id, ['run.completed'])
    expect(
      receiver()
        .requests('/anns-echo')
        .every(({ body }) => body.includes('"owner":"ann"')),
    ).toBe(true)
  })

  describe('a run that names a webhook', () => {
    const headers = { prefer: 'respond-async' }
    const asked = (webhook: unknown, more: object = { background: true }) =>
      post(server, '/api/agents/pays/run', { input: 'x', webhook, ...more }, headers)

    it('tells it of itself and of the run that goes on, signed', async () => {
      const path = `/${own('run')}`
      const { id } = await accept(server, 'agents/pays', {
        input: 'x',
        webhook: { url: receiver().url + path },
      })
      await toldOf(told, path, SECRETS.runs, id, ['run.input_required'])
      const run = await send(server, 'GET', `/api/runs/${id}`, undefined, own('any'))
      const answers = [{ id: run.json.requests[0].id, decision: 'approve' }]
      const next = await post(server, `/api/runs/${id}/answers`, { answers })
      await toldOf(told, path, SECRETS.runs, next.headers.get('x-run-id') ?? '', ['run.completed'])
    })

    it('is refused what is no address, is not allowed, or is not in the background', async () => {
      for (const [webhook, code] of [
        [{ url: 'nowhere' }, 'invalid_body'],
        [{ url: 'ftp://example.com' }, 'invalid_body'],
        [{ url: 'https://10.0.0.1/' }, 'address_refused'],
        [{}, 'invalid_body'],
        ['x', 'invalid_body'],
        [{ url: `https://example.com/${'x'.repeat(3000)}` }, 'invalid_body'],
      ] as const) {
        const answer = await asked(webhook)
        expect([JSON.parse(answer.text).code, answer.status], answer.text).toEqual([code, 400])
      }
      const url = `${receiver().url}/never`
      const plain = await post(server, '/api/agents/echo/run', { input: 'x', webhook: { url } })
      expect(JSON.parse(plain.text).code).toBe('invalid_body')
    })
  })

  it('sends a test, and another owner’s webhook is not found', async () => {
    const path = `/${own('test')}`
    const [ann, bob] = [own('ann'), own('bob')]
    const { id, secret } = await subscribed(told, ann, path)
    expect((await send(server, 'POST', `/api/webhooks/${id}/test`, {}, ann)).status).toBe(202)
    await delivered(server, id, ann, { type: 'webhook.test', status: 'delivered', responseStatus: 204 })
    expect(receiver().payloads(path, secret)).toEqual([
      { type: 'webhook.test', timestamp: expect.any(String), data: {} },
    ])
    for (const [method, what] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/secret'],
      ['POST', '/test'],
      ['POST', '/deliveries/x/replay'],
    ] as const) {
      const body = method === 'GET' ? undefined : {}
      const { status, json } = await send(server, method, `/api/webhooks/${id}${what}`, body, bob)
      expect([json.code, status], what).toEqual(['webhook_not_found', 404])
    }
  })
}
