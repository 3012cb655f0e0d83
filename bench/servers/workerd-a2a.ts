import { createHandler } from '../../src/index.ts'
import { durableObjects, durableState, worker } from '../../src/runtimes/cloudflare.ts'
import { echoAgent } from './a2a-echo.ts'

const handler = createHandler({
  registry: false,
  production: true,
  agents: { echo: echoAgent() },
  a2a: true,
  state: durableState(),
})

export default { fetch: worker(handler) }

export const { ServableRun, ServableIndex } = durableObjects(handler)
