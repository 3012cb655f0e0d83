/**
 * Tells a client of one run.
 *
 * @module
 */

import type { RunEvent } from '../agents/contract.ts'
import { isTerminal } from '../agents/event.ts'
import { Fold } from '../agents/fold.ts'
import { lastEventOf, type ServerEvent, serverEventOf } from './events.ts'

/** Characters that are told together. */
const MAX_CHUNK = 16 * 1024

/** What a teller needs. */
export interface TellerOptions {
  readonly runId: string
  /** Most characters of the run's answer. */
  readonly maxLength: number
  /** Entries up to this one have been told before. */
  readonly after: number
  /** Sends an event; `seq` is the last entry of the run's log that it tells of. */
  readonly send: (event: string, payload: object, seq: number, isLast: boolean) => void
}

/**
 * Text goes out at once, and what follows it within the same turn of the event loop together, at the turn's end: a
 * model's tokens wait for nobody, and a burst costs one event.
 */
export class Teller {
  readonly #options: TellerOptions
  readonly #fold: Fold
  #seq = 0
  #text = ''
  #turn: ReturnType<typeof setTimeout> | undefined

  constructor(options: TellerOptions) {
    this.#options = options
    this.#fold = new Fold(options.maxLength)
  }

  /** Tells an event, the next of the run. Throws for one that cannot be written, or is too much. */
  tell(event: RunEvent): void {
    this.#fold.add(event)
    if (++this.#seq <= this.#options.after) return
    if (event.type === 'text') return this.#say(event.text)
    this.stop()
    this.#flush(this.#seq - 1)
    if (isTerminal(event)) this.#send(lastEventOf(event, this.#fold.text), true)
    else this.#send(serverEventOf(event), false)
  }

  /** Leaves no timer behind. */
  stop(): void {
    if (this.#turn !== undefined) clearTimeout(this.#turn)
    this.#turn = undefined
  }

  #say(text: string): void {
    this.#text += text
    // A burst without end is told in pieces, so that a client that reads slowly can hold it up.
    if (this.#turn !== undefined) return this.#text.length < MAX_CHUNK ? undefined : this.#flush(this.#seq)
    this.#flush(this.#seq)
    this.#turn = setTimeout(() => {
      this.#turn = undefined
      this.#flush(this.#seq)
    }, 0)
  }

  #flush(seq: number): void {
    if (this.#text === '') return
    const text = this.#text
    this.#text = ''
    const [name, payload] = serverEventOf({ type: 'text', text })
    this.#options.send(name, { ...payload, runId: this.#options.runId }, seq, false)
  }

  #send([name, payload]: ServerEvent, isLast: boolean): void {
    this.#options.send(name, { ...payload, runId: this.#options.runId }, this.#seq, isLast)
  }
}
