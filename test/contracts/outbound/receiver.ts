/** A server that answers with bytes, whatever they are. */
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** A path of the server. */
export interface Place {
  readonly url: string
  /** The connections whose requests came here. */
  readonly sockets: readonly Socket[]
  /** Requests as they came. */
  readonly requests: readonly string[]
}

export interface ByteServer {
  readonly port: number
  /** A new path, whose requests are answered so once their head is there. */
  at(answer: (socket: Socket) => unknown): Place
  /** How many connections are open. */
  open(): number
  stop(): Promise<void>
}

/** Starts it. */
export async function startByteServer(host = '127.0.0.1', port = 0): Promise<ByteServer> {
  const places = new Map<
    string,
    Place & { requests: string[]; sockets: Socket[]; answer: (socket: Socket) => unknown }
  >()
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    let text = ''
    let isAnswered = false
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
      const place = places.get(/^\S+ \/(\S*) /.exec(text)?.[1] ?? '')
      if (place === undefined || !text.includes('\r\n\r\n')) return
      if (!isAnswered) place.sockets.push(socket)
      place.requests[place.sockets.indexOf(socket)] = text
      if (!isAnswered) place.answer(socket)
      isAnswered = true
    })
  })
  await new Promise<void>(resolve => server.listen(port, host, resolve))
  const own = (server.address() as AddressInfo).port
  return {
    port: own,
    at(answer) {
      const path = crypto.randomUUID()
      const url = `http://${host.includes(':') ? `[${host}]` : host}:${own}/${path}`
      const place = { url, sockets: [], requests: [], answer }
      places.set(path, place)
      return place
    },
    open: () => sockets.size,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
