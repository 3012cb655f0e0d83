import type { Server } from 'node:http'

/** Listens on a free loopback port, and gives the address. */
export function urlOf(server: Server): Promise<string> {
  return new Promise(resolve => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' ? address?.port : 0
      resolve(`http://127.0.0.1:${port}`)
    })
  })
}
