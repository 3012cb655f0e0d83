// A minimal handler: the code that every Worker with servable contains.
import { createHandler } from '../../src/index.ts'
import { worker } from '../../src/runtimes/cloudflare.ts'

export default { fetch: worker(createHandler({ agents: {} })) }
