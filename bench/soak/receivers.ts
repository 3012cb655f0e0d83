/**
 * Receivers of push notifications: a quick one, one that takes nearly the allowed time, and one whose answers no client can decode; and one
 * of webhooks, which fails at times.
 */

import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { WEBHOOK_SECRET } from './orders.ts'

/** Milliseconds of the slow receiver. The limit is ten seconds. */
const SLOW_MS = 9500

/** An answer with more codings than a client accepts. `fetch` of some versions of Node ends its process on it. */
const TOO_MANY_CODINGS = `HTTP/1.1 200 OK\r\ncontent-encoding: ${Array(7).fill('gzip').join(', ')}\r\n\r\n`

/** A notification about a task, in protocol version 0.3. */
export interface ToldTask {
  readonly status: { readonly state: string }
  readonly artifacts?: readonly { readonly parts: readonly { readonly text?: string }[] }[]
}

/** What the receiver of webhooks was told. */
export interface Hooks {
  /** The type of each event of a run, by its `webhook-id`. */
  readonly told: Map<string, Map<string, string>>
  /** Deliveries that came again. */
  repeats: number
  /** Deliveries that were refused, and that were taken and got no answer. */
  refused: number
  unanswered: number
  /** Those without a good signature. */
  unsigned: number
}

/** The addresses of the receivers. */
export interface Receivers {
  readonly hookUrl: string
  readonly hooks: Hooks
  readonly slowUrl: string
  readonly brokenUrl: string
  readonly quickUrl: string
  /** The notifications at a path of the quick receiver, as soon as `isAll` accepts them. */
  heard(path: string, isAll: (told: readonly ToldTask[]) => boolean): Promise<readonly ToldTask[]>
  /** Forgets the notifications at a path. */
  forget(path: string): void
  stop(): Promise<void>
}

export async function startReceivers(): Promise<Receivers> {
  const told = new Map<string, ToldTask[]>()
  const waiting = new Map<string, () => void>()
  const hooks: Hooks = { told: new Map(), repeats: 0, refused: 0, unanswered: 0, unsigned: 0 }
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (path.startsWith('/slow')) {
      setTimeout(() => response.writeHead(204).end(), SLOW_MS).unref()
      return
    }
    if (path === '/hook') {
      takeHook(hooks, request.headers as Record<string, string>, Buffer.concat(chunks).toString(), response)
      return
    }
    told.get(path)?.push(JSON.parse(Buffer.concat(chunks).toString()))
    response.writeHead(204).end()
    waiting.get(path)?.()
  })
  const broken = brokenServer()
  const [url, brokenUrl] = await Promise.all([listening(server), listening(broken)])
  return {
    slowUrl: `${url}/slow`,
    brokenUrl,
    quickUrl: url,
    hookUrl: `${url}/hook`,
    hooks,
    heard(path, isAll) {
      const heard: ToldTask[] = []
      told.set(path, heard)
      return new Promise(resolve => waiting.set(path, () => isAll(heard) && resolve(heard)))
    },
    forget(path) {
      told.delete(path)
      waiting.delete(path)
    },
    async stop() {
      server.closeAllConnections()
      await Promise.all([server, broken].map(each => new Promise(resolve => each.close(resolve))))
    },
  }
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Answers in too many codings. Of two connections, one is closed then, and one goes on without a word. */
function brokenServer(): Server {
  let count = 0
  return createTcpServer(socket => {
    const isSilent = count++ % 2 === 1
    socket.on('error', () => socket.destroy())
    socket.once('data', () => {
      if (isSilent) socket.write(TOO_MANY_CODINGS)
      else socket.end(TOO_MANY_CODINGS)
    })
    // A client that has given up closes its side.
    socket.on('end', () => socket.destroy())
  })
}

const webhook = new Webhook(WEBHOOK_SECRET)

/** Takes a delivery. Of a hundred two are refused, and one gets no answer, so that it comes again. */
function takeHook(
  hooks: Hooks,
  headers: Record<string, string>,
  body: string,
  response: ServerResponse,
): void {
  const chance = Math.random()
  if (chance < 0.02) {
    hooks.refused++
    response.writeHead(503).end()
    return
  }
  try {
    const { type, data } = webhook.verify(body, headers) as { type: string; data: { runId: string } }
    const events = hooks.told.get(data.runId) ?? new Map<string, string>()
    const id = headers['webhook-id'] ?? ''
    if (events.has(id)) hooks.repeats++
    hooks.told.set(data.runId, events.set(id, type))
  } catch {
    hooks.unsigned++
  }
  if (chance < 0.03) {
    hooks.unanswered++
    response.destroy()
  } else response.writeHead(204).end()
}
