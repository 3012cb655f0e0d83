/** When a session pings, and when it has waited too long for the pong (Engine.IO, "Heartbeat"). */

/** Times are milliseconds of the engine's clock. */
interface Beat {
  readonly pingInterval: number
  readonly pingTimeout: number
}

/** A tick that is later than this was held up: then the client gets its whole time from the moment of the ping. */
const LATE = 250

const NEVER = Number.POSITIVE_INFINITY

/** The heartbeat of one session. */
export class Heartbeat {
  readonly #settings: Beat
  /** As of the last tick. */
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

  /** Says what is due. */
  tick(now: number, ahead = 0): 'ping' | 'dead' | undefined {
    this.now = now
    if (now >= this.#pongBy) return 'dead'
    if (now + ahead < this.#pingAt) return undefined
    this.#ping(now < this.#pingAt || now - this.#pingAt > LATE ? now : this.#pingAt)
    // Even if it was not looked at in between: a client that had no ping is not dead.
    return 'ping'
  }

  pong(): void {
    if (this.#pongBy === NEVER) return
    this.#pongBy = NEVER
    this.#pingAt = this.#pingedAt + this.#settings.pingInterval
    this.#unread -= this.#unreadAtPing
  }

  /** What was sent and no pong has confirmed. */
  get unread(): number {
    return this.#unread
  }

  /** Counts what was sent; gives all that no pong has confirmed. */
  count(length: number): number {
    this.#unread += length
    return this.#unread
  }

  /** Whether a ping may go out before its time; it counts as the next one then. */
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
