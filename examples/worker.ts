// In your own project: `servable` and `servable/cloudflare`. Here the sources, so that no build is needed.
import { createHandler } from '../src/index.ts'
import { worker } from '../src/runtimes/cloudflare.ts'
// By name: a bundler may drop an import for its effect alone (package.json: `sideEffects`).
import * as agents from './agents.ts'

const handler = createHandler({ cors: true, serve: Object.values(agents) })

export default { fetch: worker(handler) }
