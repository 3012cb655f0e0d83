/**
 * Positions in streams of AG-UI: the `id` of each event, with which a client goes on after a cut.
 *
 * @module
 */

import type { Encoder, RunEvent } from '../../core-entry.ts'
import type { AgUiEncoder } from './encoder.ts'

/** A place in the stream of a run: after `part` of the events that one event of the run became. */
export interface StreamPosition {
  readonly runId: string
  readonly at: number
  readonly part: number
}

/** Reads a position. Undefined for a text that is none. */
export function positionIn(text: string | null): StreamPosition | undefined {
  const [, runId, at, part] = /^([\w-]{1,100}):(\d{1,15})\.(\d{1,6})$/.exec(text ?? '') ?? []
  return runId === undefined ? undefined : { runId, at: Number(at), part: Number(part) }
}

/** Gives each event of a text its `id`. Events up to `known` are left out. */
export function numbered(text: string, runId: string, at: number, known = 0): string {
  let out = ''
  let part = 0
  for (const event of text.split('\n\n')) {
    if (event !== '' && ++part > known) out += `id: ${runId}:${at}.${part}\n${event}\n\n`
  }
  return out
}

/** Numbers what an encoder writes of a stored run, and leaves out what the client has. The end of a run is always told. */
export class Numbered implements Encoder {
  readonly #encoder: AgUiEncoder
  readonly #runId: string
  readonly #known: StreamPosition | undefined

  constructor(encoder: AgUiEncoder, runId: string, known?: StreamPosition) {
    this.#encoder = encoder
    this.#runId = runId
    this.#known = known
  }

  encode(event: RunEvent, position: number): string {
    const text = this.#encoder.encode(event)
    const { at, part } = this.#known ?? { at: -1, part: 0 }
    if (position === at) return numbered(text, this.#runId, position, part)
    const isEnd = event.type === 'finish' || event.type === 'error'
    return position < at && !isEnd ? '' : numbered(text, this.#runId, position)
  }
}
