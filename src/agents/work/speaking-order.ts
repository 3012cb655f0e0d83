import { ServableError } from '../../base/errors.ts'
import type { RunEvent } from '../run-types.ts'

/** What a speaker says. */
export type Said = Extract<RunEvent, { type: 'text' }>

/** Texts that differ in nothing else. */
interface Waiting {
  readonly like: Said
  readonly texts: string[]
}

/** Most characters that may wait for their turn. */
const MAX_WAITING = 8 * 1024 * 1024

/**
 * Keeps the answers of several speakers apart: the first speaks at once, what the others say waits until all before
 * them have ended. A blank line stands between two answers.
 */
export class SpeakingOrder {
  readonly #waiting = new Map<number, Waiting[]>()
  readonly #ended = new Set<number>()
  #current = 0
  #lastSpeaker: number | undefined
  #length = 0;

  /** Takes text of a speaker and yields what may be said now. Throws `run_too_large` when too much waits. */
  *say(speaker: number, said: Said): Generator<Said> {
    const { text } = said
    if (text === '') return
    if (speaker === this.#current) {
      yield this.#speak(speaker, said)
      return
    }
    this.#length += text.length
    if (this.#length > MAX_WAITING) {
      throw new ServableError(
        'run_too_large',
        `More than ${MAX_WAITING} characters wait for an earlier member to end`,
      )
    }
    const waiting = this.#waiting.get(speaker) ?? []
    this.#waiting.set(speaker, waiting)
    const last = waiting.at(-1)
    if (last !== undefined && isAlike(last.like, said)) last.texts.push(text)
    else waiting.push({ like: said, texts: [text] })
  }

  /** Marks a speaker's end and yields what others may say now. */
  *end(speaker: number): Generator<Said> {
    this.#ended.add(speaker)
    while (this.#ended.has(this.#current)) {
      this.#current++
      for (const { like, texts } of this.#waiting.get(this.#current) ?? []) {
        for (const text of texts) {
          this.#length -= text.length
          yield this.#speak(this.#current, { ...like, text })
        }
      }
      this.#waiting.delete(this.#current)
    }
  }

  #speak(speaker: number, said: Said): Said {
    const isNew = this.#lastSpeaker !== undefined && this.#lastSpeaker !== speaker
    this.#lastSpeaker = speaker
    return isNew ? { ...said, text: `\n\n${said.text}` } : said
  }
}

function isAlike(one: Said, other: Said): boolean {
  return one.agent === other.agent && one.parentId === other.parentId
}
