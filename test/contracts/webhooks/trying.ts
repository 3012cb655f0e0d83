/** Receivers that fail, and what is done about them. */
import { expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { OVERCODED } from '../overcoded.ts'
import { accept, as, delivered, get, own, send, subscribed, type Told } from './client.ts'
import { verified } from './receiver.ts'

export function tryingCases(told: Told): void {
  const { server, receiver } = told
  const failing = async (way: string) => {
    const [path, ann] = [`/${own(way)}`, own('ann')]
    const webhook = await subscribed(told, ann, path)
    const { id: runId } = await accept(server, 'agents/echo', { input: 'x' }, as(ann))
    return { ...webhook, path, ann, runId, requests: () => receiver().requests(path) }
  }

  it.each(['fails', 'busy', 'hangs', 'floods'])('tries again where a receiver %s', async way => {
    const { id, ann, secret, requests } = await failing(way)
    await delivered(server, id, ann, { status: 'delivered', responseStatus: 204, type: 'run.completed' })
    const ids = requests().map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(1)
    expect(requests().filter(({ isTaken }) => isTaken)).toHaveLength(1)
    for (const request of requests()) verified(request, secret)
  })

  it.each(OVERCODED)('outlives a receiver with too many codings: %s', async way => {
    const { id, ann, requests } = await failing(way)
    await delivered(server, id, ann, { status: 'delivered' })
    expect(requests().length).toBeGreaterThan(0)
    // What ends the process comes with the end of the connection, or with the time limit.
    const later = await failing('hangs')
    await delivered(server, later.id, later.ann, { status: 'delivered', responseStatus: 204 })
  })

  it('gives up after so many tries, and sends again when it is asked to', async () => {
    const { id, ann, secret, requests, runId } = await failing('dead')
    const failed = await delivered(server, id, ann, { status: 'failed', tries: 3, responseStatus: 503 })
    expect(failed).toMatchObject({ error: 'it answered 503', runId })
    expect(failed).not.toHaveProperty('nextTryAt')
    const path = `/api/webhooks/${id}/deliveries`
    const replayed = await send(server, 'POST', `${path}/${failed.id}/replay`, {}, ann)
    expect([replayed.status, replayed.json.status]).toEqual([202, 'pending'])
    await delivered(server, id, ann, { id: failed.id, status: 'delivered', tries: 4 })
    expect(verified(requests().at(-1)!, secret).data.runId).toBe(runId)
    expect(new Set(requests().map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    const missing = await send(server, 'POST', `${path}/none/replay`, {}, ann)
    expect([missing.json.code, missing.status]).toEqual(['delivery_not_found', 404])
  })

  it('follows no redirect', async () => {
    const { id, ann } = await failing('moved')
    await delivered(server, id, ann, { status: 'failed', responseStatus: 307 })
    expect(receiver().requests('/moved-here')).toEqual([])
  })

  it('sends nothing more to a receiver that is gone, until its client turns it on', async () => {
    const { id, ann, requests } = await failing('gone')
    await delivered(server, id, ann, { status: 'failed', tries: 1, responseStatus: 410 })
    const read = () => send(server, 'GET', `/api/webhooks/${id}`, undefined, ann)
    expect((await read()).json.enabled).toBe(false)
    const unheard = await accept(server, 'agents/echo', { input: 'x' }, as(ann))
    await eventually(async () => {
      expect((await get(server, unheard.id, as(ann))).status).toBe('completed')
    })
    const changed = await send(server, 'PATCH', `/api/webhooks/${id}`, { enabled: true }, ann)
    expect(changed.json).toMatchObject({ enabled: true })
    const { id: runId } = await accept(server, 'agents/echo', { input: 'x' }, as(ann))
    await delivered(server, id, ann, { status: 'delivered', runId })
    expect(requests()).toHaveLength(2)
  })

  it('signs with the secret before for a while after it is rotated', async () => {
    const [path, ann] = [`/${own('rotated')}`, own('ann')]
    const { id, secret } = await subscribed(told, ann, path)
    const { json } = await send(server, 'POST', `/api/webhooks/${id}/secret`, {}, ann)
    expect(json.secret).toMatch(/^whsec_/)
    expect(json.secret).not.toBe(secret)
    await send(server, 'POST', `/api/webhooks/${id}/test`, {}, ann)
    await eventually(() => expect(receiver().requests(path)).toHaveLength(1))
    const [request] = receiver().requests(path)
    for (const each of [secret, json.secret]) verified(request!, each)
  })
}
