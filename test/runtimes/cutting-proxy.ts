import { connect, createServer, type Socket } from 'node:net'

/** A proxy that cuts connections. */
export interface CuttingProxy {
  /** The address, without a slash at the end. */
  readonly url: string
  /** Number of connections that it has cut. */
  readonly cuts: () => number
  /** Closes the proxy and its connections. */
  stop(): Promise<void>
}

/** Most bytes of a connection, in both directions together. */
const MAX_BYTES = 6000

/** Starts a proxy before a server. Each connection ends after a random number of bytes, 1 to 6000. */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const { port: targetPort } = new URL(target)
  const open = new Set<Socket>()
  let cuts = 0
  const server = createServer(client => {
    const upstream = connect(Number(targetPort), '127.0.0.1')
    let left = 1 + Math.floor(Math.random() * MAX_BYTES)
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    const pass = (from: Socket, to: Socket) => {
      open.add(from)
      from.on('data', chunk => {
        const part = chunk.subarray(0, left)
        left -= part.length
        if (left > 0) return to.write(part)
        cuts++
        // The bytes up to the cut arrive before the end.
        to.end(part, end)
      })
      from.on('error', end)
      from.on('close', () => {
        open.delete(from)
        end()
      })
    }
    pass(client, upstream)
    pass(upstream, client)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  const stop = () =>
    new Promise<void>(resolve => {
      server.close(() => resolve())
      for (const socket of open) socket.destroy()
    })
  return { url: `http://127.0.0.1:${address.port}`, cuts: () => cuts, stop }
}
