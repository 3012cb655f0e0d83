import { ServableError } from '../../base/errors.ts'
import type { RunEvent } from '../run-types.ts'

/** A text event of a speaker. */
export type SpeakerText = Extract<RunEvent, { type: 'text' }>

/** WaitingText texts of one agent and step. */
interface WaitingText {
  readonly like: SpeakerText
  readonly texts: string[]
}

/** The most characters that may wait. */
const MAX_WAITING = 8 * 1024 * 1024

/**
 * Keeps the answers of several speakers apart. The first speaker's text passes at once. The others' text waits until all speakers
 * before them have ended. A blank line separates two answers.
 */
export class SpeakingOrder {
  readonly #waiting = new Map<number, WaitingText[]>()
  readonly #ended = new Set<number>()
  #current = 0
  #lastSpeaker: number | undefined
  #length = 0;

  /** Takes text of a speaker and yields the text that may be sent now. Throws `run_too_large` when too much waits. */
  *say(speaker: number, event: SpeakerText): Generator<SpeakerText> {
    const { text } = event
    if (text === '') return
    if (speaker === this.#current) {
      yield this.#speak(speaker, event)
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
    if (last !== undefined && isAlike(last.like, event)) last.texts.push(text)
    else waiting.push({ like: event, texts: [text] })
  }

  /** Marks the end of a speaker and yields the text of others that may be sent now. */
  *end(speaker: number): Generator<SpeakerText> {
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

  #speak(speaker: number, event: SpeakerText): SpeakerText {
    const isNew = this.#lastSpeaker !== undefined && this.#lastSpeaker !== speaker
    this.#lastSpeaker = speaker
    return isNew ? { ...event, text: `\n\n${event.text}` } : event
  }
}

function isAlike(one: SpeakerText, other: SpeakerText): boolean {
  return one.agent === other.agent && one.parentId === other.parentId
}
