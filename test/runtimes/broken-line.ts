import { connect, createServer, type Socket } from 'node:net'

/** A line to a server that can be down for a while. */
export interface BrokenLine {
  /** The address, without a slash at the end. */
  readonly url: string
  /** Cuts all connections, and refuses new ones. */
  down(): void
  up(): void
  stop(): Promise<void>
}

/** Lays a line to a server on this machine. */
export async function layLine(target: string): Promise<BrokenLine> {
  const open = new Set<Socket>()
  let isDown = false
  const server = createServer(client => {
    if (isDown) return void client.destroy()
    const upstream = connect(Number(new URL(target).port), '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from)
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        open.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const cut = () => {
    for (const socket of open) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${port}`,
    down() {
      isDown = true
      cut()
    },
    up() {
      isDown = false
    },
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        cut()
      }),
  }
}
