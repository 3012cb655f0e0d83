import type { Frame } from './packet.ts'

/** What a session has to say while no transport can take it. Holds nothing, not even an array, while it is empty. */
export class SendQueue {
  #frames: Frame[] | undefined
  /** Its size: bytes, or UTF-16 units of text. */
  bytes = 0

  get isEmpty(): boolean {
    return this.#frames === undefined
  }

  push(frame: Frame): void {
    this.#frames ??= []
    this.#frames.push(frame)
    this.bytes += frame.length
  }

  /** Everything in it, and it is empty. */
  take(): Frame[] {
    const frames = this.#frames ?? []
    this.#frames = undefined
    this.bytes = 0
    return frames
  }
}
