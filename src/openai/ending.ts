/**
 * How runs end, in OpenAI's words.
 *
 * @module
 */

import type { FinishEvent, FinishReason, InputRequest, RunEvent } from '../agents/contract.ts'
import { errorOf } from '../agents/event.ts'
import { questionOf } from '../encoders/questions.ts'
import { asTold, ServableError } from '../errors.ts'
import type { SseSource } from '../web/sse.ts'

/** The last event of a run. */
export type End = Extract<RunEvent, { type: 'finish' | 'error' }>

/** Reads a run to its end: an encoder keeps what it says. Whoever leaves stops reading. */
export function readThrough(source: SseSource, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const leave = () => {
      source.cancel()
      resolve()
    }
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) return leave()
    source.read(text => {
      if (text !== undefined) return true
      signal.removeEventListener('abort', leave)
      resolve()
      return false
    })
  })
}

/** Throws what made a run fail. */
export function checkEnd(end: End | undefined): asserts end is FinishEvent {
  if (end?.type === 'finish') return
  throw end === undefined ? new ServableError('run_ended', 'Its reader has left') : asTold(errorOf(end))
}

/** How an answer was cut short, if it was. The limit of steps is one: it is no call of the client's. */
export function cutBy(reason: FinishReason): 'length' | 'content_filter' | undefined {
  if (reason === 'length' || reason === 'tool_calls') return 'length'
  return reason === 'content_filter' || reason === 'rejected' ? 'content_filter' : undefined
}

/** What people are asked, as text. */
export function questionsOf(requests: readonly InputRequest[]): string {
  return requests.map(questionOf).join('\n')
}

/** Counts the characters that an answer holds. Past the limit `add` throws `run_too_large`. */
export class Size {
  readonly #max: number
  #length = 0

  constructor(max: number) {
    this.#max = max
  }

  add(text: string): void {
    this.#length += text.length
    if (this.#length > this.#max)
      throw new ServableError('run_too_large', `The run's answer is larger than ${this.#max} characters`)
  }
}
