/**
 * The text that a client has got.
 *
 * @module
 */

/**
 * The text that a client has got. A run that continues after a crash repeats its text from the beginning. Only the new part is
 * for the client.
 */
export class SentText {
  #sent = ''
  /** How many characters were repeated so far. Undefined once all of them were. */
  #repeated: number | undefined
  /** Whether the last text differs from what the client has. Then it begins another text. */
  isOther = false

  /** Adds a text. Returns the part that is new for the client. */
  add(text: string): string {
    if (this.#repeated === undefined) {
      this.isOther = false
      this.#sent += text
      return text
    }
    return this.#compare(text, this.#repeated)
  }

  /** Call it when the run begins to repeat its text. */
  resume(): void {
    this.#repeated = this.#sent === '' ? undefined : 0
  }

  #compare(text: string, repeated: number): string {
    const rest = this.#sent.length - repeated
    const known = text.slice(0, rest)
    this.isOther = !this.#sent.startsWith(known, repeated)
    if (this.isOther) this.#sent = this.#sent.slice(0, repeated) + text
    else this.#sent += text.slice(known.length)
    this.#repeated = this.isOther || text.length >= rest ? undefined : repeated + text.length
    return this.isOther ? text : text.slice(known.length)
  }
}
