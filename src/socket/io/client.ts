/**
 * One connection as Socket.IO v5 sees it: the namespaces that its client has joined, or asks to join.
 *
 * @module
 */

import { reportError } from '../../errors.ts'
import type { Connection } from '../engine/connection.ts'
import { unreadable } from '../engine/session.ts'
import { Decoder } from './decoder.ts'
import type { Ack, Admission, Namespace, SocketHandshake } from './namespace.ts'
import {
  isSocketSnapshot,
  NamespaceSocket,
  numberOf,
  type SocketRoom,
  type SocketSnapshot,
} from './namespace-socket.ts'
import { ACK, CONNECT, CONNECT_ERROR, DISCONNECT, EVENT, encodeControl, type Packet } from './packet.ts'
import type { Recovery } from './recovery.ts'

/** What all clients of a server share. */
export interface ClientRoom extends SocketRoom {
  readonly namespaces: ReadonlyMap<string, Namespace>
  readonly maxNamespaces: number
  readonly maxAttachments: number
  readonly recovery: Recovery | undefined
}

const NOBODY: Admission = { error: { message: 'Not authorized' } }

/** See the module's head. */
export class Client {
  /** Few, so that a list costs less than a map. */
  #sockets: readonly NamespaceSocket[] = []
  readonly #room: ClientRoom
  readonly #connection: Connection
  readonly #decoder: Decoder
  /** The namespaces whose `authenticate` has not answered yet, with the last attempt to join each. */
  #joining: Map<string, object> | undefined
  /** Answers of `authenticate` that are still to come, wanted or not. */
  #asked = 0

  constructor(room: ClientRoom, connection: Connection) {
    this.#room = room
    this.#connection = connection
    this.#decoder = new Decoder(room.maxAttachments)
  }

  /** Takes one message of the client. */
  receive(message: string | Uint8Array): void {
    const packet = this.#decoder.add(message)
    if (packet === undefined) return
    if (packet === 'invalid') return this.#connection.close('parse error')
    const socket = this.#socketAt(packet.nsp)
    if (socket !== undefined) return this.#deliver(socket, packet)
    if (packet.type === CONNECT) return this.#join(packet.nsp, packet.data ?? {})
    // A client that changed its mind while it was looked at.
    if (packet.type === DISCONNECT && this.#joining?.delete(packet.nsp)) return
    // An event before CONNECT, or whatever a client has no business to send.
    this.#connection.close('parse error')
  }

  /** A pong: the client has had everything that was sent before the ping. */
  pong(): void {
    for (const socket of this.#sockets) socket.log?.pong()
  }

  /** Puts sockets back from what `snapshot` gave. Throws for what cannot be read, or is not taken. */
  restore(snapshots: unknown): void {
    if (!Array.isArray(snapshots)) throw unreadable('the sockets')
    for (const snapshot of snapshots) {
      if (!isSocketSnapshot(snapshot)) throw unreadable('a socket')
      const namespace = this.#room.namespaces.get(snapshot.nsp)
      if (namespace === undefined) throw unreadable('the namespace')
      const socket = this.#add(namespace, snapshot)
      namespace.onRestore?.(socket)
    }
  }

  snapshot(): SocketSnapshot[] {
    return this.#sockets.map(socket => socket.snapshot())
  }

  /** Forgets a socket that has left. */
  forget(left: NamespaceSocket): void {
    this.#sockets = this.#sockets.filter(socket => socket !== left)
  }

  /** Gives all sockets, and forgets them. */
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
        // A second CONNECT, or what only a server sends.
        return this.#connection.close('parse error')
    }
  }

  #event(socket: NamespaceSocket, data: unknown[], id: number | undefined): void {
    const { onEvent } = socket.namespace
    if (onEvent === undefined) return
    const event = String(data.shift())
    try {
      const done = onEvent(socket, event, data, id === undefined ? undefined : ackOf(socket, id))
      if (done !== undefined) done.catch(this.#room.onError)
    } catch (error) {
      this.#room.onError(error)
    }
  }

  #join(nsp: string, payload: Record<string, unknown>): void {
    const namespace = this.#room.namespaces.get(nsp)
    const joining = this.#joining?.size ?? 0
    if (namespace === undefined) return this.#refuse(nsp, { message: 'Invalid namespace' })
    if (this.#joining?.has(nsp)) return this.#connection.close('parse error')
    if (this.#sockets.length + Math.max(joining, this.#asked) >= this.#room.maxNamespaces) {
      return this.#refuse(nsp, { message: 'Too many namespaces' })
    }
    const { pid, offset, auth } = splitAuth(payload)
    const recovery =
      typeof pid === 'string' && this.#room.recovery === undefined ? { pid, offset } : undefined
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

  /** What `authenticate` says, whatever it does. */
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
    if (code === 'internal_error') this.#room.onError(error)
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
    const { recovery } = this.#room
    const id = session?.id ?? crypto.randomUUID()
    const pid = recovery === undefined ? session?.pid : crypto.randomUUID()
    const socket = this.#add(namespace, { nsp, id, pid, last: 0, data })
    this.#connection.touch()
    this.#send(encodeControl(CONNECT, nsp, { sid: id, pid }))
    this.#call(() => namespace.onConnect?.(socket, handshake))
  }

  /** Goes on as the socket that the client was before, if that can be. */
  #recover(nsp: string, data: unknown, pid: unknown, offset: unknown): boolean {
    const { recovery } = this.#room
    const socket = recovery?.find(pid, nsp)
    if (recovery === undefined || socket === undefined) return false
    const { namespace } = socket
    if (!this.#call(() => namespace.mayRecover?.(socket, data) ?? true)) return false
    const missed = socket.log?.after(numberOf(offset))
    if (missed === undefined) {
      // Its client is here, and cannot go on with it.
      socket.leave('transport close')
      return false
    }
    // Its old connection may not have noticed yet that nobody is there.
    this.#leaveOld(socket)
    recovery.comeBack(socket)
    socket.data = data ?? socket.data
    this.#keep(socket)
    this.#send(encodeControl(CONNECT, nsp, { sid: socket.id, pid: socket.pid }))
    socket.comeBack(this.#connection, missed)
    this.#call(() => namespace.onRecover?.(socket))
    return true
  }

  #leaveOld(socket: NamespaceSocket): void {
    const old = socket.connection
    if (old === undefined) return
    if (old.context instanceof Client) old.context.forget(socket)
    old.close('transport close')
  }

  #add(namespace: Namespace, snapshot: SocketSnapshot): NamespaceSocket {
    const socket = new NamespaceSocket(this.#room, namespace, this.#connection, snapshot)
    this.#keep(socket)
    this.#room.recovery?.add(socket)
    return socket
  }

  #keep(socket: NamespaceSocket): void {
    // A list of just this length: one that is pushed to has room for many more.
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
      this.#room.onError(error)
      return undefined
    }
  }
}

/** A client that was here before adds two members to the payload, which are its own and not its user's. */
function splitAuth(payload: Record<string, unknown>): {
  pid?: unknown
  offset?: unknown
  auth: Record<string, unknown>
} {
  // The stock client adds the first one wherever it was given one.
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
