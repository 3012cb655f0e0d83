import { createHandler, type HandlerOptions } from '../../src/index.ts'
import { durableObjects, durableState, worker } from '../../src/runtimes/cloudflare.ts'
import { echoAgent } from './a2a-echo.ts'

const options: HandlerOptions = {
  registry: false,
  production: true,
  agents: { echo: echoAgent() },
  a2a: true,
  state: durableState(),
}

export default { fetch: worker(createHandler(options)) }

export const { ServableRun, ServableIndex } = durableObjects(options)
