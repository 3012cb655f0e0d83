/** The servers of the socket contract: several endpoints, each at its own path. */

import {
  createEngine,
  createSocketServer,
  type Namespace,
  type Socket,
  type SocketEndpoint,
} from '../../../src/protocols/event-socket/socket/index.ts'

export const MAX_PAYLOAD = 100_000

/** Short enough for a test, and long enough for a busy machine. */
export const BEAT = { pingInterval: 200, pingTimeout: 600 }

const echo = createEngine({
  path: '/engine.io/',
  maxPayload: MAX_PAYLOAD,
  maxBufferedBytes: 1024 * 1024,
  upgradeTimeout: 500,
  allow: request => !request.url.includes('forbidden'),
  onMessage(connection, data) {
    if (data === 'close') connection.close()
    else if (data === 'flood') for (let i = 0; i < 64; i++) connection.send('x'.repeat(64 * 1024))
    else connection.send(data)
  },
})

/** It has few places, and closes whoever says something. */
const narrow = createEngine({
  path: '/narrow/',
  maxSessions: 2,
  onMessage: connection => connection.close('parse error'),
})

const beat = createEngine({ path: '/beat/', ...BEAT, onMessage: (connection, data) => connection.send(data) })

const main: Namespace = {
  onConnect: (socket, { auth }) => socket.emit('auth', auth),
  async onEvent(socket, event, args, ack) {
    if (event === 'message') socket.emit('message-back', ...args)
    if (event === 'message-with-ack') ack?.(...args)
    if (event === 'ask') ack?.(await socket.ask('question', args))
    if (event === 'leave') socket.disconnect()
    if (event === 'fail') throw new Error('a handler that fails')
  },
}

/** Accepts clients with the token, after a moment. */
const guarded: Namespace = {
  async authenticate({ auth }) {
    await new Promise(resolve => setTimeout(resolve, 1))
    if (auth.token === 'throws') throw new Error('a secret of the server')
    if (auth.token === 'nothing') return undefined as never
    return auth.token === 'good'
      ? { data: { user: 'ann' } }
      : { error: { message: 'Not you', data: { hint: 'ask for a token' } } }
  },
  onEvent: (socket, _event, _args, ack) => ack?.(socket.data),
}

const plain = createSocketServer({
  path: '/socket.io/',
  maxPayload: MAX_PAYLOAD,
  connectTimeout: 1000,
  maxNamespaces: 3,
  namespaces: { '/': main, '/custom': main, '/guarded': guarded },
  onError: () => {},
})

/** Counts in steps of a few milliseconds, whether the client is connected or not. */
function count(socket: Socket, to: number): void {
  let sent = 0
  const timer = setInterval(() => {
    socket.emit('count', ++sent)
    if (sent === to) clearInterval(timer)
  }, 5)
}

const filled = new Set<string>()

/** Waits until the client is away, and then sends more than the server keeps for it. */
function fill(socket: Socket): void {
  const timer = setInterval(() => {
    if (socket.isConnected) return
    clearInterval(timer)
    for (let i = 0; i < 100; i++) socket.emit('fill', 'x'.repeat(100))
    filled.add(socket.id)
  }, 5)
}

const departed: string[] = []
const recovering = createSocketServer({
  path: '/recovery/',
  recovery: { maxMs: 5000, maxBytes: 4096 },
  namespaces: {
    '/': {
      onEvent(socket, event, [value], ack) {
        if (event === 'count') count(socket, Number(value))
        if (event === 'fill') ack?.(fill(socket))
        if (event === 'filled') ack?.(filled.has(String(value)))
        if (event === 'departed') ack?.(departed.includes(String(value)))
        if (event === 'binary') socket.emit('binary', new Uint8Array([1, 2, 3]))
      },
      onDisconnect: socket => departed.push(socket.id),
    },
  },
})

const endpoints: Record<string, SocketEndpoint> = {
  'engine.io': echo,
  narrow,
  beat,
  'socket.io': plain,
  recovery: recovering,
}

/** Passes each request to its endpoint. `/bare/…` removes the platform, as on a runtime without upgrades. */
export function serviceFetch(request: Request, platform?: unknown): Response | Promise<Response> {
  const { pathname } = new URL(request.url)
  const [, name = '', inner = ''] = pathname.split('/')
  if (name === 'bare') {
    const url = request.url.replace('/bare/', '/')
    return endpoints[inner]?.fetch(new Request(url, request)) ?? new Response(null, { status: 404 })
  }
  if (name === 'size') return new Response(String(endpoints[inner]?.size))
  return endpoints[name]?.fetch(request, platform) ?? new Response(null, { status: 404 })
}
