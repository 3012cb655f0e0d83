/** A receiver of webhooks. The beginning of a path selects its behaviour. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { expect } from 'vitest'
import type { WebhookPayload } from '../../../src/features/webhooks/plugin.ts'
import { listening } from '../../listening.ts'
import { OVERCODED, overcode } from '../overcoded.ts'

/** A request to a path. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Whether it was answered with 2xx. */
  readonly isTaken: boolean
}

export interface Receiver {
  readonly url: string
  readonly port: number
  /** Requests to a path, in order. */
  requests(path: string): readonly Received[]
  /** The payloads that were taken there, each checked with this secret by the standard's own library. */
  payloads(path: string, secret: string): readonly WebhookPayload[]
  stop(): Promise<void>
}

/** The behaviour of paths that begin so, by the number of the request. False if the request is taken. */
const WAYS: Readonly<Record<string, (response: ServerResponse, count: number) => unknown>> = {
  fails: (response, count) => count <= 2 && response.writeHead(500).end('x'.repeat(1000)),
  busy: (response, count) => count <= 1 && response.writeHead(429, { 'retry-after': '1' }).end(),
  dead: (response, count) => count <= 3 && response.writeHead(503).end(),
  hangs: (_, count) => count === 1,
  floods(response, count) {
    if (count > 1) return false
    response.writeHead(500)
    let left = 1000
    const pour = () => {
      while (left-- > 0 && response.write('x'.repeat(65_536)));
    }
    response.on('drain', pour)
    pour()
    return true
  },
  gone: (response, count) => count <= 1 && response.writeHead(410).end(),
  moved: response => response.writeHead(307, { location: '/moved-here' }).end(),
  ...Object.fromEntries(
    OVERCODED.map(how => [how, (response, count) => count <= 1 && overcode(response, how)]),
  ),
}

/** Checks a request with a secret. Throws if the signature is wrong. */
export function verified({ body, headers }: Received, secret: string): WebhookPayload {
  return new Webhook(secret).verify(body, headers as Record<string, string>) as WebhookPayload
}

/** Starts the receiver. Give a port to restart it at the same address. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = []
  const requests = (path: string) => received.filter(each => each.path === path)
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const way = Object.keys(WAYS).find(each => path.startsWith(`/${each}`))
    const isRefused = way !== undefined && Boolean(WAYS[way]?.(response, requests(path).length + 1))
    const { headers } = request
    received.push({ path, headers, body: Buffer.concat(chunks).toString(), isTaken: !isRefused })
    if (!isRefused) response.writeHead(204).end()
  })
  return {
    ...(await listening(server, port)),
    requests,
    payloads: (path, secret) =>
      requests(path)
        .filter(({ isTaken }) => isTaken)
        .map(each => {
          expect(each.headers['content-type']).toBe('application/json')
          return verified(each, secret)
        }),
  }
}
