/**
 * The global of Lambda's runtimes of Node, as far as a function sees it. `test/wide/lambda.test.ts` has the real one: the head is sent
 * with the first piece, and the stream of an answer is no stream of Node's, but has some of its methods.
 */
import { Writable } from 'node:stream'
import type { Head, ResponseStream } from '../../../src/runtimes/lambda/result.ts'

/** The stream of an answer. */
export class AnswerStream implements ResponseStream {
  readonly #inner: Writable
  #head: Head | undefined
  #hasBegun = false

  constructor(inner: Writable) {
    this.#inner = inner
  }

  setHead(head: Head): this {
    this.#head = head
    return this
  }

  write(piece: string | Uint8Array): boolean {
    if (!this.#hasBegun) {
      this.#hasBegun = true
      if (this.#head !== undefined) {
        this.#inner.write(JSON.stringify(this.#head))
        this.#inner.write(Buffer.alloc(8))
      }
    }
    return this.#inner.write(piece)
  }

  end(): void {
    this.#inner.end()
  }

  on(event: string, listener: () => void): void {
    this.#inner.on(event, listener)
  }
}

export const awslambda = {
  streamifyResponse: <F>(answer: F): F => answer,
  HttpResponseStream: {
    from: (to: AnswerStream, head: Head): AnswerStream => to.setHead(head),
  },
}

/** A stream, and what it has got. */
export function gathered(): {
  readonly to: AnswerStream
  readonly pieces: Buffer[]
  readonly inner: Writable
} {
  const pieces: Buffer[] = []
  const inner = new Writable({
    write(piece, _, done) {
      pieces.push(piece)
      done()
    },
  })
  return { to: new AnswerStream(inner), pieces, inner }
}
