import { DurableObject } from 'cloudflare:workers'
import type { SleepingSocket } from '../../src/core/hosted.ts'
import { HIBERNATING, Hibernation } from '../../src/protocols/event-socket/gateway/hibernation.ts'
import type { ObjectState } from '../../src/runtimes/cloudflare/platform.ts'
import { socketContext } from '../../src/runtimes/cloudflare/socket-object.ts'
import { echoServer } from './socket-echo.ts'

/** Our server in one object whose sockets hibernate. */
export class SocketObject extends DurableObject {
  readonly #sockets: Hibernation

  constructor(state: ObjectState, env: unknown) {
    super(state as never, env as never)
    this.#sockets = new Hibernation(socketContext(state), echoServer(HIBERNATING), {
      pingInterval: 25_000,
      onError: console.error,
    })
  }

  override fetch(request: Request): Promise<Response> {
    return this.#sockets.fetch(request)
  }

  override webSocketMessage(socket: SleepingSocket, message: string | ArrayBuffer): void {
    this.#sockets.message(socket, message)
  }

  override webSocketClose(socket: SleepingSocket, code: number, reason: string): void {
    this.#sockets.close(socket, code, reason)
  }

  override async alarm(): Promise<void> {
    this.#sockets.alarm()
  }
}

interface Bindings {
  readonly SOCKETS: { getByName(name: string): { fetch(request: Request): Promise<Response> } }
}

export default { fetch: (request: Request, { SOCKETS }: Bindings) => SOCKETS.getByName('all').fetch(request) }
