/**
 * Text that a client has been told. A run that goes on after a crash tells its text again from the beginning: only what is new of
 * it is for the client.
 */
export class ToldText {
  #told = ''
  /** How much of it has come again; undefined once all of it has. */
  #again: number | undefined
  /** What was given last goes another way than what the client was told: it is the beginning of another text. */
  isOther = false

  /** What is new of a text. */
  add(text: string): string {
    if (this.#again === undefined) {
      this.isOther = false
      this.#told += text
      return text
    }
    return this.#compare(text, this.#again)
  }

  /** All text comes again. */
  resume(): void {
    this.#again = this.#told === '' ? undefined : 0
  }

  #compare(text: string, again: number): string {
    const rest = this.#told.length - again
    const known = text.slice(0, rest)
    this.isOther = !this.#told.startsWith(known, again)
    if (this.isOther) this.#told = this.#told.slice(0, again) + text
    else this.#told += text.slice(known.length)
    this.#again = this.isOther || text.length >= rest ? undefined : again + text.length
    return this.isOther ? text : text.slice(known.length)
  }
}
