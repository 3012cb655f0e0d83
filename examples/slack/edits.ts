/** A text that grows in messages of a thread, by edits. */
import { setTimeout as wait } from 'node:timers/promises'

/** Milliseconds between two edits. Slack takes about 50 a minute of one app in one channel. */
const EDIT_MS = 1200

/** Most characters of a message. What is longer goes on in the next one. */
const MAX_LENGTH = 3000

/** Writes piece number `index` of the text: posts a message, or edits the one that is there. */
export type WritePiece = (index: number, text: string) => Promise<void>

export class Edits {
  readonly #write: WritePiece
  #text = ''
  #written: readonly string[] = []
  #work: Promise<void> | undefined

  constructor(write: WritePiece) {
    this.#write = write
  }

  /** Shows the text soon. What was to be shown before is left out. */
  show(text: string): void {
    this.#text = text
    this.#begin().catch(() => {
      // `end` tries again, and throws.
    })
  }

  /** Shows the text, and resolves once it is there. */
  async end(text: string): Promise<void> {
    this.#text = text
    await this.#work?.catch(() => {})
    await this.#begin()
  }

  #begin(): Promise<void> {
    this.#work ??= this.#run().finally(() => {
      this.#work = undefined
    })
    return this.#work
  }

  async #run(): Promise<void> {
    while (this.#written.join('') !== this.#text) {
      await wait(EDIT_MS)
      const pieces = piecesOf(this.#text)
      for (const [index, piece] of pieces.entries()) {
        if (this.#written[index] !== piece) await this.#write(index, piece)
      }
      this.#written = pieces
    }
  }
}

/** The text in pieces that do not change when it grows, but for the last one. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = []
  let rest = text
  while (rest.length > MAX_LENGTH) {
    const line = rest.lastIndexOf('\n', MAX_LENGTH - 1) + 1
    // Not between the two halves of a character.
    const end = line > 0 ? line : MAX_LENGTH - Number(/[\ud800-\udbff]/.test(rest[MAX_LENGTH - 1] ?? ''))
    pieces.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  return [...pieces, rest]
}
