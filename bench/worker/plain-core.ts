// The core, and no plugin.
import { createHandler } from '../../src/core-entry.ts'
import { worker } from '../../src/runtimes/cloudflare.ts'

export default { fetch: worker(createHandler({ agents: {} })) }
