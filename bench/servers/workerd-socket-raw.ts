import { DurableObject } from 'cloudflare:workers'
import type { SleepingSocket } from '../../src/core/hosted.ts'
import type { ObjectState, SocketPair } from '../../src/runtimes/cloudflare/platform.ts'

declare const WebSocketPair: new () => SocketPair

/** Repeats every message, without a protocol: the lowest cost of a socket that hibernates. */
export class SocketObject extends DurableObject {
  readonly #state: ObjectState

  constructor(state: ObjectState, env: unknown) {
    super(state as never, env as never)
    this.#state = state
  }

  override async fetch(_request: Request): Promise<Response> {
    const { 0: client, 1: socket } = new WebSocketPair()
    this.#state.acceptWebSocket(socket)
    const init: object = { status: 101, webSocket: client }
    return new Response(null, init)
  }

  override webSocketMessage(socket: SleepingSocket, message: string | ArrayBuffer): void {
    socket.send(typeof message === 'string' ? message : new Uint8Array(message))
  }
}

interface Bindings {
  readonly SOCKETS: { getByName(name: string): { fetch(request: Request): Promise<Response> } }
}

export default { fetch: (request: Request, { SOCKETS }: Bindings) => SOCKETS.getByName('all').fetch(request) }
