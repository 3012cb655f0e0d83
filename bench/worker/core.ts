// A handler and nothing else: what every Worker with servable in it carries.
import { createHandler } from '../../src/index.ts'
import { worker } from '../../src/runtimes/cloudflare.ts'

export default { fetch: worker(createHandler({ agents: {} })) }
