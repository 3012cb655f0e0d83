/** When a session pings, and when it has waited too long for the pong (Engine.IO, "Heartbeat"). */

/** Times in milliseconds of the engine's clock. */
interface Beat {
  readonly pingInterval: number
  readonly pingTimeout: number
}

/** Milliseconds after which a tick counts as delayed. The client's time to answer then begins with the actual ping. */
const LATE = 250

const NEVER = Number.POSITIVE_INFINITY

/** The heartbeat of one session. */
export class Heartbeat {
  readonly #settings: Beat
  /** The time of the last tick. */
  now: number
  #pingAt: number
  #pongBy = NEVER
  #pingedAt: number
  #unread = 0
  #unreadAtPing = 0

  constructor(settings: Beat, now: number) {
    this.#settings = settings
    this.now = now
    this.#pingedAt = now
    this.#pingAt = now + settings.pingInterval
  }

  get dueAt(): number {
    return Math.min(this.#pingAt, this.#pongBy)
  }

  /** Returns what is due. It marks a due ping as sent. */
  tick(now: number, ahead = 0): 'ping' | 'dead' | undefined {
    this.now = now
    if (now >= this.#pongBy) return 'dead'
    if (now + ahead < this.#pingAt) return undefined
    this.#ping(now < this.#pingAt || now - this.#pingAt > LATE ? now : this.#pingAt)
    // This holds even after a long pause: a client that was sent no ping is not dead.
    return 'ping'
  }

  pong(): void {
    if (this.#pongBy === NEVER) return
    this.#pongBy = NEVER
    this.#pingAt = this.#pingedAt + this.#settings.pingInterval
    this.#unread -= this.#unreadAtPing
  }

  /** Bytes or characters that were sent and not confirmed by a pong. */
  get unread(): number {
    return this.#unread
  }

  /** Counts sent bytes or characters. Returns those that are not confirmed. */
  count(length: number): number {
    this.#unread += length
    return this.#unread
  }

  /** Marks a ping as sent before it is due. It replaces the next one. Returns false if a pong is still expected. */
  pingNow(now: number): boolean {
    if (this.#pongBy !== NEVER) return false
    this.#ping(now)
    return true
  }

  snapshot(): readonly [pingAt: number | null, pongBy: number | null] {
    const known = (time: number) => (time === NEVER ? null : time)
    return [known(this.#pingAt), known(this.#pongBy)]
  }

  restore([pingAt, pongBy]: readonly [pingAt: number | null, pongBy: number | null]): void {
    this.#pingAt = pingAt ?? NEVER
    this.#pongBy = pongBy ?? NEVER
    if (pongBy !== null) this.#pingedAt = pongBy - this.#settings.pingTimeout
  }

  #ping(at: number): void {
    this.#pingedAt = at
    this.#pingAt = NEVER
    this.#pongBy = at + this.#settings.pingTimeout
    this.#unreadAtPing = this.#unread
  }
}
