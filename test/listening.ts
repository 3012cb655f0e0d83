/** Servers of the tests on loopback. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Where a server listens. */
export interface Listening {
  readonly url: string
  readonly port: number
  /** Ends its connections, and waits until it is closed. */
  stop(): Promise<void>
}

/** Listens on a port of loopback: without one, on any that is free. */
export async function listening(server: Server, wanted = 0): Promise<Listening> {
  await new Promise<void>(resolve => server.listen(wanted, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stop = () =>
    new Promise<void>(resolve => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${port}`, port, stop }
}
