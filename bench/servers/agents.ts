/** The agents for both sides of a comparison. */

import type { RunEvent, RunInput } from '../../src/index.ts'

/** Number of text events of a stream. */
export const STREAM_EVENTS = 2000

/** Repeats the input in one event. */
export const echo = {
  kind: 'agent',
  name: 'echo',
  async *stream(input: RunInput): AsyncGenerator<RunEvent> {
    yield { type: 'text', text: String(input) }
    yield { type: 'finish', finishReason: 'stop' }
  },
} as const

/** Gives many small text events without waiting. */
export const many = {
  kind: 'agent',
  name: 'many',
  async *stream(): AsyncGenerator<RunEvent> {
    for (let i = 0; i < STREAM_EVENTS; i++) yield { type: 'text', text: `token ${i} ` }
    yield { type: 'finish', finishReason: 'stop' }
  },
} as const
