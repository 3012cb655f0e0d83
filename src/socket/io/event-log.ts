/** An encoded event: its text, and its attachments. */
export type EncodedEvent = string | readonly [string, ...Uint8Array[]]

/**
 * The last events of one socket, by number, until the client is known to have them. It is bounded: a client that missed
 * more than that cannot recover.
 */
export class EventLog {
  readonly #maxBytes: number
  #events: EncodedEvent[] = []
  #bytes = 0
  /** The number of the last event. */
  last: number
  /** The client has everything up to here once the next pong is there: its ping was sent later. */
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

  /** Everything after the event with this number, or undefined where that is not known any more. */
  after(number: number): readonly EncodedEvent[] | undefined {
    const missed = this.last - number
    if (!Number.isSafeInteger(missed) || missed < 0 || missed > this.#events.length) return undefined
    return this.#events.slice(this.#events.length - missed)
  }

  /** The client has answered a ping, so it has what was sent before that. */
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
