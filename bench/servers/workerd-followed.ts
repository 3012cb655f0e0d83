import { createHandler, type HandlerOptions } from '../../src/index.ts'
import { durableObjects, durableState, worker } from '../../src/runtimes/cloudflare.ts'
import { echo, many } from './agents.ts'

const options: HandlerOptions = {
  registry: false,
  production: true,
  agents: { echo, many },
  state: durableState(),
}

export default { fetch: worker(createHandler(options)) }

export const { ServableRun, ServableIndex } = durableObjects(options)
