/** Our server: it repeats every event. */

import type { SocketServerOptions } from '../../src/protocols/event-socket/socket/index.ts'
import { createSocketServer, type SocketServer } from '../../src/protocols/event-socket/socket/index.ts'

/** Makes it. */
export function echoServer(options: Partial<SocketServerOptions> = {}): SocketServer {
  return createSocketServer({
    ...options,
    maxSessionsPerIp: 10_000,
    namespaces: { '/': { onEvent: (socket, event, args) => socket.emit(event, ...args) } },
  })
}
