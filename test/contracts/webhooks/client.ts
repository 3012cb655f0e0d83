/** Subscribes, and reads deliveries, over loopback. */
import { expect } from 'vitest'
import type { WebhookDelivery, WebhookWithSecret } from '../../../src/features/webhooks/plugin.ts'
import { eventually } from '../../eventually.ts'
import { accept, as, ask, get, own, post, type Server } from '../runs/client.ts'
import type { Receiver } from './receiver.ts'

export { accept, as, ask, get, own, post, type Server }

/** A server with its receiver. */
export interface Told {
  readonly server: Server
  readonly receiver: () => Receiver
}

/** Sends JSON with a method. */
export async function send(server: Server, method: string, path: string, body: unknown, user: string) {
  const headers = { 'content-type': 'application/json', ...as(user) }
  const answer = await ask(server, path, { method, headers, body: JSON.stringify(body) })
  return { ...answer, json: answer.text === '' ? undefined : JSON.parse(answer.text) }
}

/** Subscribes an owner to a path of the receiver. */
export async function subscribed(
  { server, receiver }: Told,
  owner: string,
  path: string,
  more: object = {},
): Promise<WebhookWithSecret> {
  const url = receiver().url + path
  const { status, json } = await send(server, 'POST', '/api/webhooks', { url, ...more }, owner)
  expect(status, JSON.stringify(json)).toBe(201)
  return json
}

/** The deliveries of a webhook. */
export async function deliveries(
  server: Server,
  id: string,
  owner: string,
  query = '',
): Promise<WebhookDelivery[]> {
  const answer = await ask(server, `/api/webhooks/${id}/deliveries?${query}`, { headers: as(owner) })
  expect(answer.status, answer.text).toBe(200)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  return JSON.parse(answer.text).deliveries
}

/** Waits until the newest delivery of a webhook stands so. */
export async function delivered(
  server: Server,
  id: string,
  owner: string,
  about: Partial<WebhookDelivery>,
): Promise<WebhookDelivery> {
  let found: WebhookDelivery | undefined
  await eventually(async () => {
    found = (await deliveries(server, id, owner))[0]
    expect(found).toMatchObject(about)
  })
  return found!
}
