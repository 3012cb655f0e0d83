/**
 * A Socket.IO v5 client on one connection: the namespaces that it has joined or asks to join.
 *
 * @module
 */

import { reportError } from '../../../../base/errors.ts'
import type { Connection } from '../engine/connection.ts'
import { unreadable } from '../engine/session.ts'
import type { Ack, Admission, Namespace, SocketHandshake } from './namespace.ts'
import {
  isSocketSnapshot,
  NamespaceSocket,
  numberOf,
  type SharedSocketParts,
  type SocketSnapshot,
} from './namespace-socket.ts'
import {
  ACK,
  CONNECT,
  CONNECT_ERROR,
  Decoder,
  DISCONNECT,
  EVENT,
  encodeControl,
  type Packet,
} from './packet.ts'
import type { SocketRecovery } from './recovery.ts'

/** The parts that all clients of a server share. */
export interface SharedClientParts extends SharedSocketParts {
  readonly namespaces: ReadonlyMap<string, Namespace>
  readonly maxNamespaces: number
  readonly maxAttachments: number
  readonly recovery: SocketRecovery | undefined
}

const NOBODY: Admission = { error: { message: 'Not authorized' } }

/** A client of the server. */
export class SocketClient {
  /** A list, because there are few sockets and a list needs less memory than a map. */
  #sockets: readonly NamespaceSocket[] = []
  readonly #shared: SharedClientParts
  readonly #connection: Connection
  readonly #decoder: Decoder
  /** The namespaces whose `authenticate` has not answered yet, each with its latest attempt to join. */
  #joining: Map<string, object> | undefined
  /** How many answers of `authenticate` are still to come, including those that are no longer needed. */
  #asked = 0

  constructor(shared: SharedClientParts, connection: Connection) {
    this.#shared = shared
    this.#connection = connection
    this.#decoder = new Decoder(shared.maxAttachments)
  }

  /** Handles a message of the client. */
  receive(message: string | Uint8Array): void {
    const packet = this.#decoder.add(message)
    if (packet === undefined) return
    if (packet === 'invalid') return this.#connection.close('parse error')
    const socket = this.#socketAt(packet.nsp)
    if (socket !== undefined) return this.#deliver(socket, packet)
    if (packet.type === CONNECT) return this.#join(packet.nsp, packet.data ?? {})
    // The client leaves before `authenticate` has answered.
    if (packet.type === DISCONNECT && this.#joining?.delete(packet.nsp)) return
    // An event before CONNECT, or a packet that clients may not send.
    this.#connection.close('parse error')
  }

  /** Handles a pong. The client has received everything that was sent before the ping. */
  pong(): void {
    for (const socket of this.#sockets) {
      socket.log?.pong()
      const { onPong } = socket.namespace
      if (onPong !== undefined) this.#call(() => onPong(socket))
    }
  }

  /** Restores sockets from the result of `snapshot`. Throws if it cannot be read or a handler throws. */
  restore(snapshots: unknown): void {
    if (!Array.isArray(snapshots)) throw unreadable('the sockets')
    for (const snapshot of snapshots) {
      if (!isSocketSnapshot(snapshot)) throw unreadable('a socket')
      const namespace = this.#shared.namespaces.get(snapshot.nsp)
      if (namespace === undefined) throw unreadable('the namespace')
      const socket = this.#add(namespace, snapshot)
      namespace.onRestore?.(socket)
    }
  }

  snapshot(): SocketSnapshot[] {
    return this.#sockets.map(socket => socket.snapshot())
  }

  /** Removes a socket that has left. */
  forget(left: NamespaceSocket): void {
    this.#sockets = this.#sockets.filter(socket => socket !== left)
  }

  /** Removes all sockets and returns them. */
  takeAll(): readonly NamespaceSocket[] {
    const sockets = this.#sockets
    this.#sockets = []
    return sockets
  }

  #socketAt(nsp: string): NamespaceSocket | undefined {
    for (const socket of this.#sockets) if (socket.nsp === nsp) return socket
    return undefined
  }

  #deliver(socket: NamespaceSocket, packet: Packet): void {
    switch (packet.type) {
      case EVENT:
        return this.#event(socket, packet.data, packet.id)
      case ACK:
        return socket.settle(packet.id, packet.data)
      case DISCONNECT:
        this.#connection.touch()
        return socket.leave('client disconnect')
      default:
        // A second CONNECT, or a packet that only servers send.
        return this.#connection.close('parse error')
    }
  }

  #event(socket: NamespaceSocket, data: unknown[], id: number | undefined): void {
    const { onEvent } = socket.namespace
    if (onEvent === undefined) return
    const event = String(data.shift())
    try {
      const done = onEvent(socket, event, data, id === undefined ? undefined : ackOf(socket, id))
      if (done !== undefined) done.catch(this.#shared.onError)
    } catch (error) {
      this.#shared.onError(error)
    }
  }

  #join(nsp: string, payload: Record<string, unknown>): void {
    const namespace = this.#shared.namespaces.get(nsp)
    const joining = this.#joining?.size ?? 0
    if (namespace === undefined) return this.#refuse(nsp, { message: 'Invalid namespace' })
    if (this.#joining?.has(nsp)) return this.#connection.close('parse error')
    if (this.#sockets.length + Math.max(joining, this.#asked) >= this.#shared.maxNamespaces) {
      return this.#refuse(nsp, { message: 'Too many namespaces' })
    }
    const { pid, offset, auth } = splitAuth(payload)
    const recovery =
      typeof pid === 'string' && this.#shared.recovery === undefined ? { pid, offset } : undefined
    const handshake = { ...this.#connection.handshake, nsp, auth, ...(recovery && { recovery }) }
    const admission = this.#ask(namespace, handshake)
    const enter = (answer: Admission) => this.#enter(namespace, handshake, answer, pid, offset)
    if (!(admission instanceof Promise)) return enter(admission)
    const attempt = {}
    this.#joining ??= new Map()
    this.#joining.set(nsp, attempt)
    this.#asked++
    void admission.then(answer => {
      this.#asked--
      if (this.#joining?.get(nsp) !== attempt) return
      this.#joining.delete(nsp)
      if (this.#connection.isOpen) enter(answer)
    })
  }

  /** Calls `authenticate` and converts its result. A throw becomes a refusal. */
  #ask(namespace: Namespace, handshake: SocketHandshake): Admission | Promise<Admission> {
    if (namespace.authenticate === undefined) return {}
    try {
      const answer = namespace.authenticate(handshake)
      return answer instanceof Promise ? answer.then(checked, error => this.#failed(error)) : checked(answer)
    } catch (error) {
      return this.#failed(error)
    }
  }

  #failed(error: unknown): Admission {
    const { code, message } = reportError(error, true, 'internal_error')
    if (code === 'internal_error') this.#shared.onError(error)
    return { error: { message, data: { code } } }
  }

  #enter(
    namespace: Namespace,
    handshake: SocketHandshake,
    admission: Admission,
    oldPid: unknown,
    offset: unknown,
  ): void {
    const { nsp } = handshake
    if (admission.error !== undefined) return this.#refuse(nsp, admission.error)
    this.#connection.admit()
    const { data, session } = admission
    if (this.#recover(nsp, data, oldPid, offset)) return
    const { recovery } = this.#shared
    const id = session?.id ?? crypto.randomUUID()
    const pid = recovery === undefined ? session?.pid : crypto.randomUUID()
    const socket = this.#add(namespace, { nsp, id, pid, last: 0, data })
    this.#connection.touch()
    this.#send(encodeControl(CONNECT, nsp, { sid: id, pid }))
    this.#call(() => namespace.onConnect?.(socket, handshake))
  }

  /** Continues with the client's earlier socket. Returns false if that is not possible. */
  #recover(nsp: string, data: unknown, pid: unknown, offset: unknown): boolean {
    const { recovery } = this.#shared
    const socket = recovery?.find(pid, nsp)
    if (recovery === undefined || socket === undefined) return false
    const { namespace } = socket
    if (!this.#call(() => namespace.mayRecover?.(socket, data) ?? true)) return false
    const missed = socket.log?.after(numberOf(offset))
    if (missed === undefined) {
      // The client is here but cannot continue with the socket, so the socket leaves.
      socket.leave('transport close')
      return false
    }
    // The old connection may not have ended yet.
    this.#leaveOld(socket)
    recovery.reconnected(socket)
    socket.data = data ?? socket.data
    this.#keep(socket)
    this.#send(encodeControl(CONNECT, nsp, { sid: socket.id, pid: socket.pid }))
    socket.reconnect(this.#connection, missed)
    this.#call(() => namespace.onRecover?.(socket))
    return true
  }

  #leaveOld(socket: NamespaceSocket): void {
    const old = socket.connection
    if (old === undefined) return
    if (old.context instanceof SocketClient) old.context.forget(socket)
    old.close('transport close')
  }

  #add(namespace: Namespace, snapshot: SocketSnapshot): NamespaceSocket {
    const socket = new NamespaceSocket(this.#shared, namespace, this.#connection, snapshot)
    this.#keep(socket)
    this.#shared.recovery?.add(socket)
    return socket
  }

  #keep(socket: NamespaceSocket): void {
    // A new array of this exact length. An array that grows by `push` reserves much more.
    this.#sockets = [...this.#sockets, socket]
  }

  #refuse(nsp: string, error: { readonly message: string; readonly data?: unknown }): void {
    const { message, data } = error
    this.#send(encodeControl(CONNECT_ERROR, nsp, data === undefined ? { message } : { message, data }))
  }

  #send(packet: string): void {
    this.#connection.send(packet)
  }

  #call<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      this.#shared.onError(error)
      return undefined
    }
  }
}

/**
 * Splits the payload of a client that reconnects. `pid` and `offset` come from the client library, and the rest from its
 * user.
 */
function splitAuth(payload: Record<string, unknown>): {
  pid?: unknown
  offset?: unknown
  auth: Record<string, unknown>
} {
  // The stock client adds `pid` to the payload if the server gave it one.
  if (typeof payload.pid !== 'string') return { auth: payload }
  const { pid, offset, ...auth } = payload
  return { pid, offset, auth }
}

function checked(admission: Admission): Admission {
  return typeof admission === 'object' && admission !== null ? admission : NOBODY
}

function ackOf(socket: NamespaceSocket, id: number): Ack {
  let isAnswered = false
  return (...args) => {
    if (isAnswered) return
    isAnswered = true
    socket.answer(id, args)
  }
}
