import { ServableError } from '../errors.ts'

/** Most characters that may wait for their turn. */
const MAX_WAITING = 8 * 1024 * 1024

/**
 * Keeps the answers of several speakers apart: the first speaks at once, what the others say waits until all before
 * them have ended. A blank line stands between two answers.
 */
export class SpeakingOrder {
  readonly #waiting = new Map<number, string[]>()
  readonly #ended = new Set<number>()
  #current = 0
  #lastSpeaker: number | undefined
  #length = 0;

  /** Takes text of a speaker and yields what may be said now. Throws `run_too_large` when too much waits. */
  *say(speaker: number, text: string): Generator<string> {
    if (text === '') return
    if (speaker === this.#current) {
      yield this.#speak(speaker, text)
      return
    }
    this.#length += text.length
    if (this.#length > MAX_WAITING) {
      throw new ServableError(
        'run_too_large',
        `More than ${MAX_WAITING} characters wait for an earlier member to end`,
      )
    }
    const texts = this.#waiting.get(speaker) ?? []
    this.#waiting.set(speaker, texts)
    texts.push(text)
  }

  /** Marks a speaker's end and yields what others may say now. */
  *end(speaker: number): Generator<string> {
    this.#ended.add(speaker)
    while (this.#ended.has(this.#current)) {
      this.#current++
      for (const text of this.#waiting.get(this.#current) ?? []) {
        this.#length -= text.length
        yield this.#speak(this.#current, text)
      }
      this.#waiting.delete(this.#current)
    }
  }

  #speak(speaker: number, text: string): string {
    const isNew = this.#lastSpeaker !== undefined && this.#lastSpeaker !== speaker
    this.#lastSpeaker = speaker
    return isNew ? `\n\n${text}` : text
  }
}
