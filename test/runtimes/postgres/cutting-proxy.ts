import { connect, createServer, type Socket } from 'node:net'

/** Where a connection is cut: before a message reaches the database, or before the answer to it reaches the client. */
export type Cut = 'asking' | 'answering'

export interface CuttingProxy {
  /** The address of the database through it. */
  readonly url: string
  /** The number of messages from the client since the last call of `cutAt`. */
  readonly count: number
  /** Cuts the connection at one message, counted from 1 from now on. */
  cutAt(message: number, cut: Cut): void
  stop(): Promise<void>
}

/** A proxy before a database that loses a connection in the middle of something. */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let count = 0
  let cutMessage = 0
  let cut: Cut = 'asking'
  const server = createServer(client => {
    const database = connect(Number(port), hostname)
    let losesAnswer = false
    const end = () => {
      client.destroy()
      database.destroy()
    }
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.on('error', end)
      socket.on('close', () => {
        sockets.delete(socket)
        end()
      })
    }
    client.on('data', data => {
      if (++count === cutMessage && cut === 'asking') return end()
      losesAnswer ||= count === cutMessage
      database.write(data)
    })
    database.on('data', data => {
      if (losesAnswer) end()
      else client.write(data)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(target)
  url.port = String((server.address() as { readonly port: number }).port)
  return {
    url: url.href,
    get count() {
      return count
    },
    cutAt(message, where) {
      count = 0
      cutMessage = message
      cut = where
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
