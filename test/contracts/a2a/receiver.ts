/** A receiver of push notifications. Its paths select its behaviour. */
import { createServer, type ServerResponse } from 'node:http'
import { verifyWebhook, type Webhook } from '../../../src/index.ts'
import { listening } from '../../listening.ts'
import { OVERCODED, overcode } from '../overcoded.ts'
import { WEBHOOK_SECRET } from './service.ts'

/** One notification that the receiver accepted. */
export interface Received {
  readonly path: string
  readonly headers: Headers
  /** Undefined if the signature was not valid. */
  readonly webhook: Webhook | undefined
  readonly payload: Record<string, unknown>
}

export interface Receiver {
  readonly url: string
  readonly port: number
  /** Notifications that were answered with 2xx, in order, each once. */
  taken(path: string): Received[]
  /** Number of requests to a path. */
  tries(path: string): number
  stop(): Promise<void>
}

/** Paths that accept each notification the first time, but do not answer the sender. */
const LOST = '/lost'

/** The behaviour of paths with this prefix, by the number of the request. False if the notification is accepted. */
const WAYS: Readonly<Record<string, (response: ServerResponse, count: number) => unknown>> = {
  fails: (response, count) => count <= 2 && response.writeHead(500).end('x'.repeat(1000)),
  hangs: (_, count) => count === 1,
  closes(response, count) {
    if (count > 1) return false
    response.writeHead(200, { 'content-length': '100' }).write('half')
    return response.destroy()
  },
  gone: response => response.writeHead(410).end(),
  dead: response => response.writeHead(500).end(),
  moved: response => response.writeHead(307, { location: '/moved-here' }).end(),
  ...Object.fromEntries(OVERCODED.map(how => [how, response => overcode(response, how)])),
}

/** Starts the receiver. Give a port to restart it at the same address. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = []
  const tries = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const count = (tries.get(path) ?? 0) + 1
    tries.set(path, count)
    const way = Object.keys(WAYS).find(each => path.startsWith(`/${each}`))
    if (way !== undefined && WAYS[way]?.(response, count)) return
    const body = Buffer.concat(chunks).toString()
    const headers = new Headers(request.headers as Record<string, string>)
    const signed = new Request('http://127.0.0.1/', { method: 'POST', headers: withoutLength(headers), body })
    const webhook = await verifyWebhook(signed, WEBHOOK_SECRET).catch(() => undefined)
    // A sender without an answer sends the same notification again.
    const isNew = !received.some(each => each.path === path && each.webhook?.id === webhook?.id)
    if (isNew || webhook === undefined) received.push({ path, headers, webhook, payload: JSON.parse(body) })
    if (isNew && path.startsWith(LOST)) return void response.destroy()
    response.writeHead(204).end()
  })
  return {
    ...(await listening(server, port)),
    taken: path => received.filter(each => each.path === path),
    tries: path => tries.get(path) ?? 0,
  }
}

function withoutLength(headers: Headers): Headers {
  const kept = new Headers(headers)
  for (const name of ['content-length', 'transfer-encoding', 'connection', 'host']) kept.delete(name)
  return kept
}
