/** The text of an artifact, of which each character is told once. */
export class ToldText {
  /** Characters that earlier runs have told: these are not known any more. */
  #before: number
  /** What was told, with zeros for what is not known. */
  #told: string
  /** Where the service is, if that is behind what was told: it begins again there. */
  #behind: string | undefined

  constructor(before: number) {
    this.#before = before
    this.#told = '\0'.repeat(before)
  }

  /** Characters that were told. */
  get length(): number {
    return this.#told.length
  }

  /** Takes in more text. Returns what is to be told of it. */
  append(text: string): string {
    if (this.#behind !== undefined) return this.replace(this.#behind + text)
    this.#told += text
    return text
  }

  /** Takes in the whole text. Returns what was not told, which is all of another text. */
  replace(text: string): string {
    const length = Math.min(text.length, this.#told.length)
    const isSame = text.slice(this.#before, length) === this.#told.slice(this.#before, length)
    if (isSame && text.length < this.#told.length) {
      this.#behind = text
      return ''
    }
    this.#behind = undefined
    const news = isSame ? text.slice(this.#told.length) : text
    if (!isSame) this.#before = 0
    this.#told = text
    return news
  }
}
