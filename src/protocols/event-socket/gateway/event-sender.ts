/**
 * Sends the events of one run to a client.
 *
 * @module
 */

import type { EventFacts, RunEvent } from '../../../agents/contract.ts'
import { isTerminal } from '../../../agents/event.ts'
import { Fold } from '../../../agents/fold.ts'
import { lastEventOf, type ServerEvent, serverEventOf } from './events.ts'

/** Most characters of one text event of a burst. */
const MAX_CHUNK = 16 * 1024

/** What a sender needs. */
export interface EventSenderOptions {
  readonly runId: string
  /** Most characters of the run's answer. */
  readonly maxLength: number
  /** The last log entry that was sent before. Entries up to it are not sent again. */
  readonly after: number
  /** Sends an event. `seq` is the last entry of the run's log in the event. */
  readonly send: (event: string, payload: object, seq: number, isLast: boolean) => void
}

/**
 * Sends the events of a run. Text is sent at once. Text that follows in the same turn of the event loop is collected and
 * sent at the end of the turn, or when the agent changes. So a model's tokens are not delayed, and a burst becomes one
 * event.
 */
export class EventSender {
  readonly #options: EventSenderOptions
  readonly #fold: Fold
  #seq = 0
  #text = ''
  /** The agent of the text, and the step or call that it is in. */
  #from: EventFacts = {}
  #turn: ReturnType<typeof setTimeout> | undefined

  constructor(options: EventSenderOptions) {
    this.#options = options
    this.#fold = new Fold(options.maxLength)
  }

  /** Sends the next event of the run. Throws if the event cannot be written or the answer is too long. */
  push(event: RunEvent): void {
    this.#fold.add(event)
    if (++this.#seq <= this.#options.after) return
    if (event.type === 'text') return this.#addText(event)
    this.stop()
    this.#flush(this.#seq - 1)
    if (isTerminal(event)) this.#send(lastEventOf(event, this.#fold.text), true)
    else this.#send(serverEventOf(event), false)
  }

  /** Clears the timer. */
  stop(): void {
    if (this.#turn !== undefined) clearTimeout(this.#turn)
    this.#turn = undefined
  }

  #addText({ text, agent, parentId }: Extract<RunEvent, { type: 'text' }>): void {
    if (agent !== this.#from.agent || parentId !== this.#from.parentId) {
      this.stop()
      this.#flush(this.#seq - 1)
      this.#from = { agent, parentId }
    }
    this.#text += text
    // A long burst is sent in pieces, so that a slow client can pause it.
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
    const [name, payload] = serverEventOf({ type: 'text', text, ...this.#from })
    this.#options.send(name, { ...payload, runId: this.#options.runId }, seq, false)
  }

  #send([name, payload]: ServerEvent, isLast: boolean): void {
    this.#options.send(name, { ...payload, runId: this.#options.runId }, this.#seq, isLast)
  }
}
