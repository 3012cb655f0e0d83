/** What roles see of the deliveries of others. */
import { expect, it } from 'vitest'
import { webhooks } from '../../../src/features/webhooks/plugin.ts'
import { createHandler, type Middleware, memoryState } from '../../../src/index.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { speaker } from '../../support.ts'

const who: Middleware = (request, context, next) => {
  const [id = '', ...roles] = (request.headers.get('x-test-user') ?? '').split(' ')
  context.identity = { id, roles }
  return next()
}

it('see what was sent only of runs that they may read', async () => {
  const handler = createHandler({
    agents: { echo: speaker('echo', 'said') },
    registry: false,
    logger: false,
    state: memoryState(),
    middleware: [who],
    access: { mail: ['webhooks', 'admin'], reader: ['webhooks', 'admin', 'read'] },
    admin: { authenticate: request => (request.headers.has('x-test-admin') ? { id: 'root' } : undefined) },
    plugins: [webhooks({ clients: true, allow: ['127.0.0.1'] })],
  })
  const ask = async (path: string, user: string, init: RequestInit = {}) => {
    const headers = new Headers({ ...Object(init.headers), 'x-test-user': user })
    return (await handler(new Request(`http://127.0.0.1/api/${path}`, { ...init, headers }))).json()
  }
  const { id } = await ask('webhooks', 'ann', jsonRequest({ url: 'http://127.0.0.1:9/hook' }))
  const test = await ask(`webhooks/${id}/test`, 'ann', jsonRequest({}))
  const path = `webhooks/${id}/deliveries/${test.id}`
  const payload = { type: 'webhook.test', timestamp: expect.any(String), data: {} }
  expect((await ask(path, 'ann')).payload).toEqual(payload)
  for (const each of [`${path}?owner=ann`, `admin/${path}`]) {
    const unread = await ask(each, 'eve mail')
    expect(unread).toMatchObject({ id: test.id })
    expect(unread).not.toHaveProperty('payload')
    expect((await ask(each, 'eve reader')).payload).toEqual(payload)
  }
  const asAdmin = await ask(`admin/${path}`, 'eve', { headers: { 'x-test-admin': 'yes' } })
  expect(asAdmin.payload).toEqual(payload)
})
