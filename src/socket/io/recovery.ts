import type { NamespaceSocket } from './namespace-socket.ts'

/** How long and how much is kept for clients that come back. */
export interface RecoveryLimits {
  /** Milliseconds. Default: 120,000. */
  readonly maxMs?: number
  /** Bytes of events a socket. Default: 1 MiB. A client that missed more starts anew. */
  readonly maxBytes?: number
  /** Sockets whose client is away. Default: 1,000; the one that is away longest goes first. */
  readonly maxAway?: number
}

/** The sockets whose clients may come back, by their private ids. */
export class Recovery {
  readonly limits: Required<RecoveryLimits>
  readonly #sockets = new Map<string, NamespaceSocket>()
  /** Those whose client is away, the one that is away longest first. */
  readonly #away = new Set<NamespaceSocket>()

  constructor({ maxMs = 120_000, maxBytes = 1024 * 1024, maxAway = 1000 }: RecoveryLimits) {
    this.limits = { maxMs, maxBytes, maxAway }
  }

  add(socket: NamespaceSocket): void {
    if (socket.pid !== undefined) this.#sockets.set(socket.pid, socket)
  }

  /** The socket with this private id, of that namespace. */
  find(pid: unknown, nsp: string): NamespaceSocket | undefined {
    const socket = typeof pid === 'string' ? this.#sockets.get(pid) : undefined
    return socket?.nsp === nsp ? socket : undefined
  }

  remove(socket: NamespaceSocket): void {
    if (socket.pid !== undefined) this.#sockets.delete(socket.pid)
    this.#away.delete(socket)
  }

  goAway(socket: NamespaceSocket, now: number): void {
    socket.goAway(now + this.limits.maxMs)
    this.#away.add(socket)
    const [first] = this.#away
    if (this.#away.size > this.limits.maxAway) first?.leave('transport close')
  }

  comeBack(socket: NamespaceSocket): void {
    this.#away.delete(socket)
  }

  /** Lets those go whose time is over; says until when the others may come back. */
  tick(now: number): number {
    let until = 0
    for (const socket of this.#away) {
      if (socket.awayUntil <= now) socket.leave('transport close')
      else until = socket.awayUntil
    }
    return until
  }

  /** Lets all go. */
  close(): void {
    for (const socket of this.#away) socket.leave('server close')
  }
}
