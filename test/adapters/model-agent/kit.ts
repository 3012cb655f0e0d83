/** What a run keeps for the one that goes on, as the host of the run would: as JSON. */

import type { ModelAgent } from '../../../src/adapters/model-agent/index.ts'
import type { RunEvent, RunOptions, WorkState } from '../../../src/index.ts'
import { drain } from '../../support.ts'

/** The state of a run that may wait. */
export interface Work extends WorkState {
  /** What is kept, as JSON. */
  text: string | undefined
}

export function work(): Work {
  const state: Work = {
    text: undefined,
    read: () => (state.text === undefined ? undefined : JSON.parse(state.text)),
    keep: kept => {
      state.text = JSON.stringify(kept)
    },
  }
  return state
}

/** Runs an agent and gives its events. */
export function play(agent: ModelAgent, input: string, options: RunOptions): Promise<RunEvent[]> {
  return drain(agent.stream(input, options))
}

/** What a run waits for. */
export function requestsIn(events: readonly RunEvent[]) {
  const last = events.at(-1)
  return (last?.type === 'finish' && last.requests) || []
}
