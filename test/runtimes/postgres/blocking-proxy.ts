import { connect, createServer, type Socket } from 'node:net'

/** A network between a process and its database, which can be cut: bytes vanish then, and nobody is told. */
export interface BlockingProxy {
  /** The address of the database behind it. */
  readonly url: string
  cut(): void
  mend(): void
  stop(): Promise<void>
}

export async function startBlockingProxy(target: string): Promise<BlockingProxy> {
  const { port, pathname, username } = new URL(target)
  const open = new Set<Socket>()
  let isCut = false
  const server = createServer(client => {
    const upstream = connect(Number(port), '127.0.0.1')
    const wasMade = !isCut
    const pass = (from: Socket, to: Socket) => {
      open.add(from)
      from.on('data', chunk => {
        // What was on its way when it was cut never arrives, nor what comes after it on the same connection.
        if (isCut || !wasMade) lost.add(from).add(to)
        if (!lost.has(from)) to.write(chunk)
      })
      from.on('error', () => {})
      from.on('close', () => {
        open.delete(from)
        to.destroy()
      })
    }
    const lost = new Set<Socket>()
    pass(client, upstream)
    pass(upstream, client)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return {
    url: `postgres://${username}@127.0.0.1:${address.port}${pathname}`,
    cut() {
      isCut = true
    },
    mend() {
      isCut = false
    },
    stop: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
}
