/** Subscriptions of clients, and what administrators see. */
import { expect, it } from 'vitest'
import { accept, as, ask, delivered, deliveries, own, post, send, subscribed, type Told } from './client.ts'

export function managingCases(told: Told): void {
  const { server, receiver } = told

  it('keeps, lists, changes and deletes', async () => {
    const ann = own('ann')
    const { id, secret, ...webhook } = await subscribed(told, ann, '/kept', { agents: ['echo'] })
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/)
    const list = async () => (await send(server, 'GET', '/api/webhooks', undefined, ann)).json.webhooks
    expect(await list()).toEqual([{ id, ...webhook }])
    const change = { url: `${receiver().url}/other`, events: ['run.failed'], agents: null, contents: true }
    const changed = await send(server, 'PATCH', `/api/webhooks/${id}`, change, ann)
    const { agents: _, ...others } = webhook
    expect(changed.json).toEqual({ ...others, id, url: change.url, events: ['run.failed'], contents: true })
    expect(await list()).toEqual([changed.json])
    expect((await send(server, 'DELETE', `/api/webhooks/${id}`, {}, ann)).status).toBe(204)
    expect(await list()).toEqual([])
  })

  it('takes a secret of the client, and no more webhooks than an owner may have', async () => {
    const ann = own('ann')
    const given = `whsec_${btoa('x'.repeat(24))}`
    for (const each of ['/1', '/2', '/3']) {
      expect((await subscribed(told, ann, each, { secret: given })).secret).toBe(given)
    }
    const url = `${receiver().url}/4`
    const { status, json } = await send(server, 'POST', '/api/webhooks', { url }, ann)
    expect([json.code, status]).toEqual(['too_many_webhooks', 409])
  })

  it('refuses what is wrong', async () => {
    const url = `${receiver().url}/x`
    for (const [body, code] of [
      [{}, 'invalid_body'],
      [[], 'invalid_body'],
      [{ url: 'x' }, 'invalid_body'],
      [{ url: 'https://192.168.0.1/hook' }, 'address_refused'],
      [{ url: 'http://example.com/hook' }, 'address_refused'],
      [{ url, events: [] }, 'invalid_body'],
      [{ url, events: ['run.started'] }, 'invalid_body'],
      [{ url, secret: 'whsec_c2hvcnQ=' }, 'invalid_body'],
      [{ url, secret: `whsec_${btoa('x'.repeat(65))}` }, 'invalid_body'],
      [{ url, agents: Array(101).fill('a') }, 'invalid_body'],
    ] as const) {
      const { status, json } = await send(server, 'POST', '/api/webhooks', body, own('ann'))
      expect([json.code, status], JSON.stringify(body)).toEqual([code, 400])
    }
    const anonymous = await post(server, '/api/webhooks', { url })
    expect([JSON.parse(anonymous.text).code, anonymous.status]).toEqual(['not_found', 404])
  })

  it('lists deliveries by state and event, and shows what was sent', async () => {
    const [path, ann] = [`/${own('bodies')}`, own('ann')]
    const { id, secret } = await subscribed(told, ann, path, { contents: true })
    const { id: runId } = await accept(server, 'agents/echo', { input: 'a word' }, as(ann))
    await delivered(server, id, ann, { status: 'delivered', type: 'run.completed', runId })
    await send(server, 'POST', `/api/webhooks/${id}/test`, {}, ann)
    await delivered(server, id, ann, { status: 'delivered', type: 'webhook.test' })
    const typesOf = async (query: string) =>
      (await deliveries(server, id, ann, query)).map(({ type }) => type)
    expect(await typesOf('')).toEqual(['webhook.test', 'run.completed'])
    expect(await typesOf('type=run.completed')).toEqual(['run.completed'])
    expect(await typesOf('type=webhook.test&status=delivered')).toEqual(['webhook.test'])
    expect(await typesOf('type=run.completed&status=failed')).toEqual([])
    const list = `/api/webhooks/${id}/deliveries`
    const wrong = await ask(server, `${list}?type=run.started`, { headers: as(ann) })
    expect([wrong.status, JSON.parse(wrong.text).code]).toEqual([400, 'invalid_query'])

    const [{ id: delivery = '' } = {}] = await deliveries(server, id, ann, 'type=run.completed')
    const shown = await send(server, 'GET', `${list}/${delivery}`, undefined, ann)
    expect(shown.json).toMatchObject({ id: delivery, status: 'delivered', responseStatus: 204 })
    const [request] = receiver()
      .requests(path)
      .filter(({ body }) => body.includes(runId))
    expect(shown.json.payload).toEqual(JSON.parse(request?.body ?? ''))
    expect(shown.text).toContain('a word')
    expect(shown.text).not.toContain(secret)
    expect(shown.headers.get('cache-control')).toBe('no-store')

    // Those of all webhooks are of the caller's alone. An administrator sees those of everyone.
    const listed = async (path: string, headers: Record<string, string>) => {
      const { status, text } = await ask(server, `/api/${path}`, { headers })
      return status === 200 ? JSON.parse(text).deliveries.map((each: { id: string }) => each.id) : status
    }
    const admin = { 'x-test-admin': 'yes' }
    expect(await listed('webhooks/deliveries', as(ann))).toHaveLength(2)
    expect(await listed('webhooks/deliveries?type=run.completed', as(ann))).toEqual([delivery])
    expect(await listed(`webhooks/deliveries?webhook=${id}&type=run.completed`, as(ann))).toEqual([delivery])
    expect(await listed('webhooks/deliveries', as(own('bob')))).toEqual([])
    expect(await listed(`webhooks/deliveries?webhook=${id}`, as(own('bob')))).toBe(404)
    expect(await listed('webhooks/deliveries?webhook=all', as(ann))).toBe(404)
    expect(await listed('admin/webhooks/deliveries?limit=100', admin)).toEqual(
      expect.arrayContaining([delivery, `${runId}_completed_all`]),
    )
    expect(await listed(`admin/webhooks/deliveries?webhook=all&limit=100`, admin)).not.toContain(delivery)

    // It is of its owner, of administrators, and of its own webhook alone.
    const other = await subscribed(told, ann, '/other')
    for (const [webhook, which, who] of [
      [id, delivery, own('bob')],
      [id, 'none', ann],
      [other.id, delivery, ann],
    ] as const) {
      const { status } = await send(
        server,
        'GET',
        `/api/webhooks/${webhook}/deliveries/${which}`,
        undefined,
        who,
      )
      expect(status).toBe(404)
    }
    const asAdmin = `/api/admin/webhooks/${id}/deliveries/${delivery}`
    expect((await ask(server, asAdmin)).status).toBe(401)
    const { text } = await ask(server, asAdmin, { headers: { 'x-test-admin': 'yes' } })
    expect(JSON.parse(text).payload).toEqual(shown.json.payload)
  })

  it('shows administrators all, without secrets, and lets them send again', async () => {
    const ann = own('ann')
    const { id } = await subscribed(told, ann, '/admin?key=secret')
    await accept(server, 'agents/echo', { input: 'x' }, as(ann))
    const admin = { headers: { 'x-test-admin': 'yes' } }
    const { text, status } = await ask(server, '/api/admin/webhooks', admin)
    expect(status, text).toBe(200)
    expect(text).not.toMatch(/whsec|secret/)
    const { webhooks } = JSON.parse(text)
    expect(webhooks).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: 'all', owner: null, url: `${receiver().url}/all` }),
        expect.objectContaining({ id, owner: ann, url: `${receiver().url}/admin` }),
      ]),
    )
    const listed = await ask(server, '/api/admin/webhooks/all/deliveries?status=delivered', admin)
    expect(listed.status, listed.text).toBe(200)
    const [delivery] = JSON.parse(listed.text).deliveries
    expect(delivery).toMatchObject({ status: 'delivered', responseStatus: 204 })
    const path = `/api/admin/webhooks/all/deliveries/${delivery.id}/replay`
    const replayed = await ask(server, path, { ...admin, method: 'POST' })
    expect(replayed.status, replayed.text).toBe(202)
    for (const path of ['', '/all/deliveries', `/${id}/deliveries`]) {
      expect((await ask(server, `/api/admin/webhooks${path}`)).status).toBe(401)
    }
    const ofDeployment = await send(server, 'GET', '/api/webhooks/all', undefined, ann)
    expect(ofDeployment.status).toBe(404)
    expect(await deliveries(server, id, ann)).toHaveLength(1)
  })
}
