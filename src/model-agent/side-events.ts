import { createWake } from '../wake.ts'

/** Most waiting events. At this limit their source is not read. */
const MAX_WAITING = 64

/** Inserts the events of callbacks into the stream that waits for them. */
export class SideEvents<T> {
  readonly #waiting: T[] = []
  readonly #came = createWake()
  readonly #taken = createWake()
  #isOver = false

  /** Reads a source to its end and stores its events. Gives the source's return value. */
  async put<R>(source: AsyncGenerator<T, R>): Promise<R> {
    let item = await source.next()
    for (; !item.done; item = await source.next()) {
      if (this.#isOver) {
        await source.return(undefined as R)
        throw new Error('Nobody reads any more')
      }
      this.#waiting.push(item.value)
      this.#came.fire()
      while (this.#waiting.length >= MAX_WAITING && !this.#isOver) await this.#taken.wait()
    }
    return item.value
  }

  /** The items of a source, with the stored events between them. Gives the source's return value. */
  async *beside<R>(source: AsyncGenerator<T, R>): AsyncGenerator<T, R> {
    let next = source.next()
    try {
      while (true) {
        const item = await Promise.race([next, this.#came.wait()])
        yield* this.#take()
        if (item === undefined) continue
        if (item.done) return item.value
        yield item.value
        next = source.next()
      }
    } finally {
      this.#isOver = true
      this.#taken.fire()
      next.catch(() => {})
      void source.return(undefined as R).then(undefined, () => {})
    }
  }

  *#take(): Generator<T> {
    while (this.#waiting.length > 0) {
      yield this.#waiting.shift() as T
      this.#taken.fire()
    }
  }
}
