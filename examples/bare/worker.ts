// No adapter: the handler itself is the `fetch` of a Worker.
import { createHandler } from '../../src/index.ts'
import * as agents from '../agents.ts'

export default { fetch: createHandler({ cors: true, serve: Object.values(agents) }) }
