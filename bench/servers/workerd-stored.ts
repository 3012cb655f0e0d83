import { createHandler } from '../../src/index.ts'
import { durableObjects, durableState, worker } from '../../src/runtimes/cloudflare.ts'
import { echo, many } from './agents.ts'

const handler = createHandler({
  registry: false,
  production: true,
  agents: { echo, many },
  state: durableState(),
})

export default { fetch: worker(handler) }

export const { ServableRun, ServableIndex } = durableObjects(handler)
