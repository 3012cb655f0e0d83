/** A proxy before several processes. */

import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

/** A proxy that gives each connection to the next process. */
export interface RoundRobin {
  /** The address, without a slash at the end. */
  readonly url: string
  /** Closes the proxy and its connections. */
  stop(): Promise<void>
}

/**
 * Starts a proxy. `targets` gives the addresses of the processes. It passes over a process that takes no connection. A connection ends
 * with its process.
 */
export async function startRoundRobin(targets: () => readonly string[]): Promise<RoundRobin> {
  const open = new Set<Socket>()
  let turn = 0
  const upstream = async (): Promise<Socket | undefined> => {
    const urls = targets()
    for (let tries = 0; tries < urls.length; tries++) {
      const socket = await connected(urls[turn++ % urls.length] ?? '')
      if (socket !== undefined) return socket
    }
    return undefined
  }
  const server = createServer({ pauseOnConnect: true }, async client => {
    open.add(client.on('close', () => open.delete(client)).on('error', () => {}))
    const other = await upstream()
    if (other === undefined) return void client.destroy()
    open.add(other.on('close', () => open.delete(other)))
    for (const [from, to] of [
      [client, other],
      [other, client],
    ] as const)
      from.on('close', () => to.destroy()).pipe(to)
    if (client.destroyed) other.destroy()
    client.resume()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
}

/** A connection. Undefined if nobody takes it. */
function connected(url: string): Promise<Socket | undefined> {
  return new Promise(resolve => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => resolve(socket))
    socket.on('error', () => resolve(undefined))
  })
}
