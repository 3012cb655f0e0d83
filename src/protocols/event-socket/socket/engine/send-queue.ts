import type { Frame } from './packet.ts'

/** Frames that wait for a transport. An empty queue does not even hold an array. */
export class SendQueue {
  #frames: Frame[] | undefined
  /** The size of the queue: bytes, or UTF-16 units of text. */
  bytes = 0

  get isEmpty(): boolean {
    return this.#frames === undefined
  }

  push(frame: Frame): void {
    this.#frames ??= []
    this.#frames.push(frame)
    this.bytes += frame.length
  }

  /** Returns all frames and empties the queue. */
  take(): Frame[] {
    const frames = this.#frames ?? []
    this.#frames = undefined
    this.bytes = 0
    return frames
  }
}
