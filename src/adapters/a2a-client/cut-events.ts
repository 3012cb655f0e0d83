/**
 * The events of a remote agent, without the secrets that were sent to it.
 *
 * @module
 */

import type { RunEvent, StepEvent } from '../../agents/contract.ts'
import { SecretCutter, withoutSecrets } from '../../web/secrets.ts'

/** Most steps with open progress. Past it the held text of the oldest step is emitted. */
const MAX_STEPS = 100

/** A text that comes in pieces, with the newest of its events. */
interface OpenText {
  readonly cutter: SecretCutter
  event: Extract<RunEvent, { type: 'text' }> | StepEvent
}

/** Cuts secrets out of the events of one turn. Text that may begin a secret is held until it turns out not to be one. */
export class CutEvents {
  readonly #secrets: () => readonly string[]
  /** By the id of the step. The key of the answer is undefined. */
  readonly #open = new Map<string | undefined, OpenText>()

  constructor(secrets: () => readonly string[]) {
    this.#secrets = secrets
  }

  /** Yields the event without secrets. */
  *take(event: RunEvent): Generator<RunEvent> {
    if (event.type === 'text') return yield* this.#push(undefined, event, event.text)
    if (event.type === 'step' && event.id !== undefined) {
      const { id, status, text } = event
      if (status === 'progress' && text !== undefined) return yield* this.#push(id, event, text)
      yield* this.#close(id)
    }
    yield withoutSecrets(event, this.#secrets())
  }

  /** Yields the text that was held back. */
  *end(): Generator<RunEvent> {
    for (const key of this.#open.keys()) yield* this.#close(key)
  }

  *#push(key: string | undefined, event: OpenText['event'], piece: string): Generator<RunEvent> {
    const open = this.#open.get(key) ?? { event, cutter: new SecretCutter(this.#secrets) }
    open.event = event
    if (!this.#open.has(key) && this.#open.size > MAX_STEPS) yield* this.#spill()
    this.#open.set(key, open)
    yield* this.#emit(open, piece, false)
  }

  *#spill(): Generator<RunEvent> {
    for (const key of this.#open.keys()) if (key !== undefined) return yield* this.#close(key)
  }

  *#close(key: string | undefined): Generator<RunEvent> {
    const open = this.#open.get(key)
    this.#open.delete(key)
    if (open !== undefined) yield* this.#emit(open, '', true)
  }

  *#emit({ cutter, event }: OpenText, piece: string, isEnd: boolean): Generator<RunEvent> {
    const text = cutter.push(piece, isEnd)
    if (text === '') return
    yield event.type === 'text' ? { ...event, text } : withoutSecrets({ ...event, text }, this.#secrets())
  }
}
