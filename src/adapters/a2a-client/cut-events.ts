/**
 * The events of a remote agent, without the secrets that were sent to it.
 *
 * @module
 */

import type { RunEvent, StepEvent } from '../../agents/contract.ts'
import { SecretCutter, withoutSecrets } from '../../web/secrets.ts'

/** Steps whose progress is open at a time. Of more, the oldest is told to its end. */
const MAX_STEPS = 100

/** A text that comes in pieces, with the newest of its events. */
interface OpenText {
  readonly cutter: SecretCutter
  event: Extract<RunEvent, { type: 'text' }> | StepEvent
}

/** Cuts secrets out of the events of one turn. What may be the beginning of one is told once it is known to be none. */
export class CutEvents {
  readonly #secrets: () => readonly string[]
  /** By the id of the step; of the answer by none. */
  readonly #open = new Map<string | undefined, OpenText>()

  constructor(secrets: () => readonly string[]) {
    this.#secrets = secrets
  }

  /** What is told of an event. */
  *take(event: RunEvent): Generator<RunEvent> {
    if (event.type === 'text') return yield* this.#say(undefined, event, event.text)
    if (event.type === 'step' && event.id !== undefined) {
      const { id, status, text } = event
      if (status === 'progress' && text !== undefined) return yield* this.#say(id, event, text)
      yield* this.#close(id)
    }
    yield withoutSecrets(event, this.#secrets())
  }

  /** What was held back. */
  *end(): Generator<RunEvent> {
    for (const key of this.#open.keys()) yield* this.#close(key)
  }

  *#say(key: string | undefined, event: OpenText['event'], piece: string): Generator<RunEvent> {
    const open = this.#open.get(key) ?? { event, cutter: new SecretCutter(this.#secrets) }
    open.event = event
    if (!this.#open.has(key) && this.#open.size > MAX_STEPS) yield* this.#spill()
    this.#open.set(key, open)
    yield* this.#tell(open, piece, false)
  }

  *#spill(): Generator<RunEvent> {
    for (const key of this.#open.keys()) if (key !== undefined) return yield* this.#close(key)
  }

  *#close(key: string | undefined): Generator<RunEvent> {
    const open = this.#open.get(key)
    this.#open.delete(key)
    if (open !== undefined) yield* this.#tell(open, '', true)
  }

  *#tell({ cutter, event }: OpenText, piece: string, isEnd: boolean): Generator<RunEvent> {
    const text = cutter.push(piece, isEnd)
    if (text === '') return
    yield event.type === 'text' ? { ...event, text } : withoutSecrets({ ...event, text }, this.#secrets())
  }
}
