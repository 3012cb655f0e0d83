/**
 * The Durable Object of sockets. A plugin provides its service.
 *
 * @module
 */

import { DurableObject } from 'cloudflare:workers'
import { ServableError } from '../../base/errors.ts'
import type { Core } from '../../core/built-in.ts'
import type { SleepingSocket, SocketObjectContext, SocketService } from '../../core/hosted.ts'
import { reach } from './bindings.ts'
import type { ObjectClass, ObjectState, SocketPair } from './platform.ts'

declare const WebSocketPair: new () => SocketPair

/** Makes the class. */
export function socketClass(core: Core): ObjectClass {
  return class ServableGateway extends DurableObject {
    readonly #service: SocketService

    constructor(state: ObjectState, env: unknown) {
      // If a user has the runtime's own types, they type the base class.
      super(state as never, env as never)
      const open = core.mounted.find(({ plugin }) => plugin.sockets !== undefined)?.plugin.sockets
      if (open === undefined) throw missing()
      this.#service = open(socketContext(state), core)
    }

    override fetch(request: Request): Promise<Response> {
      return this.#service.fetch(request)
    }

    override webSocketMessage(socket: SleepingSocket, message: string | ArrayBuffer): void {
      this.#service.message(socket, message)
    }

    override webSocketClose(socket: SleepingSocket, code: number, reason: string): void {
      this.#service.close(socket, code, reason)
    }

    override webSocketError(socket: SleepingSocket): void {
      this.#service.close(socket, 1006, '')
    }

    override async alarm(): Promise<void> {
      this.#service.alarm()
    }
  }
}

/** The context of the socket service in this object. */
export function socketContext(state: ObjectState): SocketObjectContext {
  return {
    reach,
    sockets: () => state.getWebSockets(),
    accept() {
      const { 0: client, 1: socket } = new WebSocketPair()
      state.acceptWebSocket(socket)
      // `webSocket` is a member of Workers only. Other runtimes accept no status 101 here.
      const init: object = { status: 101, webSocket: client }
      return { response: new Response(null, init), socket }
    },
    waitUntil: work => state.waitUntil(work),
    wakeAt: at => state.waitUntil(state.storage.setAlarm(at)),
  }
}

function missing(): ServableError {
  return new ServableError(
    'invalid_options',
    '`ServableGateway` has no sockets: give `eventSocket()` to the handler of `durableObjects(handler)`',
  )
}
