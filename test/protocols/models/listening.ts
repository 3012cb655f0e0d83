/** An agent that keeps what it has heard last. */
import { Agent, type RunInput, type RunOptions } from '../../../src/index.ts'

/** What an agent has heard last. */
export interface Heard {
  readonly input: RunInput
  readonly options: RunOptions
}

/** Makes the agent `m`, which answers `ok`. */
export function listening(): { readonly listens: Agent; readonly last: { heard?: Heard } } {
  const last: { heard?: Heard } = {}
  const listens = new Agent({
    name: 'm',
    register: false,
    run(input, options) {
      last.heard = { input, options }
      return 'ok'
    },
  })
  return { listens, last }
}
