/** The agents that both sides of a comparison call. */

import type { RunEvent, RunInput } from '../../src/index.ts'

/** How many text events one stream holds. */
export const STREAM_EVENTS = 2000

/** Says the input back in one event. */
export const echo = {
  kind: 'agent',
  name: 'echo',
  async *stream(input: RunInput): AsyncGenerator<RunEvent> {
    yield { type: 'text', text: String(input) }
    yield { type: 'finish', finishReason: 'stop' }
  },
} as const

/** Gives many small text events without waiting for anything. */
export const many = {
  kind: 'agent',
  name: 'many',
  async *stream(): AsyncGenerator<RunEvent> {
    for (let i = 0; i < STREAM_EVENTS; i++) yield { type: 'text', text: `token ${i} ` }
    yield { type: 'finish', finishReason: 'stop' }
  },
} as const
