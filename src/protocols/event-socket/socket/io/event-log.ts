/** An encoded event: its text, and its attachments. */
export type EncodedEvent = string | readonly [string, ...Uint8Array[]]

/**
 * The latest events of one socket, by number, until a pong confirms them. Its size is limited. A client that missed more
 * events cannot recover.
 */
export class EventLog {
  readonly #maxBytes: number
  #events: EncodedEvent[] = []
  #bytes = 0
  /** The number of the last event. */
  last: number
  /** The next pong confirms all events up to this number, because its ping was sent after them. */
  #mark = 0

  constructor(maxBytes: number, last = 0) {
    this.#maxBytes = maxBytes
    this.last = last
  }

  push(event: EncodedEvent): void {
    this.last++
    this.#events.push(event)
    this.#bytes += sizeOf(event)
    while (this.#bytes > this.#maxBytes) this.#shift()
  }

  /** Returns all events after this number. Undefined if some of them are no longer known. */
  after(number: number): readonly EncodedEvent[] | undefined {
    const missed = this.last - number
    if (!Number.isSafeInteger(missed) || missed < 0 || missed > this.#events.length) return undefined
    return this.#events.slice(this.#events.length - missed)
  }

  /** Handles a pong. The client has received everything that was sent before the ping. */
  pong(): void {
    const unconfirmed = this.last - this.#mark
    while (this.#events.length > unconfirmed) this.#shift()
    this.#mark = this.last
  }

  #shift(): void {
    const event = this.#events.shift()
    if (event !== undefined) this.#bytes -= sizeOf(event)
  }
}

function sizeOf(event: EncodedEvent): number {
  if (typeof event === 'string') return event.length
  let size = 0
  for (const frame of event) size += frame.length
  return size
}
