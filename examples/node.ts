// In your own project import from `servable` and `servable/node`. This example imports the sources, so that it needs no build.
import process from 'node:process'
import { createHandler } from '../src/index.ts'
import { serve } from '../src/runtimes/node.ts'
import * as agents from './agents.ts'
import { ndjson } from './ndjson.ts'

const handler = createHandler({ cors: true, serve: Object.values(agents), plugins: [ndjson()] })
const server = await serve(handler, { port: Number(process.env.PORT || 8787) })
console.log(`listening ${server.url}`)

// On SIGTERM, as before a new version starts, runs have 30 seconds to end. After that they are cancelled.
process.once('SIGTERM', async () => {
  await server.close({ graceMs: 30_000 })
  process.exit()
})
