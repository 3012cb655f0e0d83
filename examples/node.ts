// NODE_ENV=development node examples/node.ts
// In your own project import from `servable` and `servable/node`. This example imports the sources, so that it needs no build.
import process from 'node:process'
import { createHandler } from '../src/index.ts'
import { serve } from '../src/runtimes/node.ts'
import { sqliteState } from '../src/runtimes/sqlite.ts'
import { swaggerUi } from '../src/runtimes/swagger-ui.ts'
import { everything } from './everything.ts'

const state = sqliteState({ path: process.env.DATABASE || 'examples.db' })
const handler = createHandler(everything(process.env, { state, assets: swaggerUi() }))
const server = await serve(handler, { port: Number(process.env.PORT || 8787) })
console.log(`listening ${server.url}`)

// On SIGTERM, as before a new version starts, runs have 30 seconds to end. After that they are cancelled.
process.once('SIGTERM', async () => {
  await server.close({ graceMs: 30_000 })
  process.exit()
})
