/**
 * Text that a client has been told. After a crash a run tells its text again from the beginning: only what is new of it is for the
 * client.
 */
export class ToldText {
  #told = ''
  /** How much of it has been told again; undefined where nothing is. */
  #again: number | undefined

  /** What is new of a text. */
  add(text: string): string {
    const known = this.#again === undefined ? 0 : sameStart(text, this.#told, this.#again)
    if (this.#again !== undefined) {
      const place = this.#again + known
      // It goes another way, or has caught up.
      if (known < text.length) this.#again = undefined
      else this.#again = place
      if (this.#again !== undefined) return ''
      this.#told = this.#told.slice(0, place)
    }
    const fresh = known === 0 ? text : text.slice(known)
    this.#told += fresh
    return fresh
  }

  /** All text comes again. */
  resume(): void {
    this.#again = 0
  }
}

/** How many characters of a text are at a place of another one. */
function sameStart(text: string, other: string, from: number): number {
  let length = 0
  while (length < text.length && text[length] === other[from + length] && from + length < other.length)
    length++
  return length
}
