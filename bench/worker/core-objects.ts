// The core with Durable Objects, and no plugin.
import { createHandler } from '../../src/core-entry.ts'
import { durableObjects, durableState, worker } from '../../src/runtimes/cloudflare.ts'

const handler = createHandler({ agents: {}, state: durableState() })

export default { fetch: worker(handler) }

export const { ServableRun, ServableIndex } = durableObjects(handler)
