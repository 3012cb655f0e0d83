import type { NamespaceSocket } from './namespace-socket.ts'

/** Limits of recovery: how long sockets wait for their clients, and how many events they hold. */
export interface RecoveryLimits {
  /** Milliseconds that a client may be away. Default: 120,000. */
  readonly maxMs?: number
  /** Most bytes of events that are held for a socket. A client that missed more gets a new socket. Default: 1 MiB. */
  readonly maxBytes?: number
  /** Most sockets whose clients are away. Past it the socket that is away longest leaves. Default: 1,000. */
  readonly maxAway?: number
}

/** The sockets whose clients may reconnect, by their private ids. */
export class SocketRecovery {
  readonly limits: Required<RecoveryLimits>
  readonly #sockets = new Map<string, NamespaceSocket>()
  /** Sockets whose clients are away. The first one is away longest. */
  readonly #away = new Set<NamespaceSocket>()

  constructor({ maxMs = 120_000, maxBytes = 1024 * 1024, maxAway = 1000 }: RecoveryLimits) {
    this.limits = { maxMs, maxBytes, maxAway }
  }

  add(socket: NamespaceSocket): void {
    if (socket.pid !== undefined) this.#sockets.set(socket.pid, socket)
  }

  /** Returns the socket with this private id in a namespace. */
  find(pid: unknown, nsp: string): NamespaceSocket | undefined {
    const socket = typeof pid === 'string' ? this.#sockets.get(pid) : undefined
    return socket?.nsp === nsp ? socket : undefined
  }

  remove(socket: NamespaceSocket): void {
    if (socket.pid !== undefined) this.#sockets.delete(socket.pid)
    this.#away.delete(socket)
  }

  suspend(socket: NamespaceSocket, now: number): void {
    socket.suspend(now + this.limits.maxMs)
    this.#away.add(socket)
    const [first] = this.#away
    if (this.#away.size > this.limits.maxAway) first?.leave('transport close')
  }

  reconnected(socket: NamespaceSocket): void {
    this.#away.delete(socket)
  }

  /** Ends sockets that have waited too long. Returns the time until which the others may wait. */
  tick(now: number): number {
    let until = 0
    for (const socket of this.#away) {
      if (socket.awayUntil <= now) socket.leave('transport close')
      else until = socket.awayUntil
    }
    return until
  }

  /** Ends all sockets. */
  close(): void {
    for (const socket of this.#away) socket.leave('server close')
  }
}
