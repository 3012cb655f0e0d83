// In your own project: `servable` and `servable/node`. Here the sources, so that no build is needed.
import process from 'node:process'
import { createHandler } from '../src/index.ts'
import { serve } from '../src/runtimes/node.ts'
import * as agents from './agents.ts'
import { ndjson } from './ndjson.ts'

const handler = createHandler({ cors: true, serve: Object.values(agents), plugins: [ndjson()] })
const server = await serve(handler, { port: Number(process.env.PORT || 8787) })
console.log(`listening ${server.url}`)

// Told to end, as by a new version of itself: runs have 30 seconds to end, then they are cancelled.
process.once('SIGTERM', async () => {
  await server.close({ graceMs: 30_000 })
  process.exit()
})
