/** The text of an artifact, of which each character is emitted once. */
export class EmittedText {
  /** Characters that earlier runs have emitted. Their text is not known any more. */
  #before: number
  /** The emitted text, with zeros for the unknown characters. */
  #emitted: string
  /** The service's text, if it is shorter than the emitted text. The service continues from there. */
  #behind: string | undefined

  constructor(before: number) {
    this.#before = before
    this.#emitted = '\0'.repeat(before)
  }

  /** Emitted characters. */
  get length(): number {
    return this.#emitted.length
  }

  /** Adds more text. Returns the part to emit. */
  append(text: string): string {
    if (this.#behind !== undefined) return this.replace(this.#behind + text)
    this.#emitted += text
    return text
  }

  /** Sets the whole text. Returns the part that was not emitted, which is all of it if the text differs. */
  replace(text: string): string {
    const length = Math.min(text.length, this.#emitted.length)
    const isSame = text.slice(this.#before, length) === this.#emitted.slice(this.#before, length)
    if (isSame && text.length < this.#emitted.length) {
      this.#behind = text
      return ''
    }
    this.#behind = undefined
    const news = isSame ? text.slice(this.#emitted.length) : text
    if (!isSame) this.#before = 0
    this.#emitted = text
    return news
  }
}
