// deno run --allow-net --allow-env=PORT examples/deno.ts
// In your own project import from `servable` and `servable/deno`. This example imports the sources, so that it needs no build.
import process from 'node:process'
import { createHandler } from '../src/index.ts'
import { serve } from '../src/runtimes/deno.ts'
import * as agents from './agents.ts'

const server = await serve(createHandler({ cors: true, serve: Object.values(agents) }), {
  port: Number(process.env.PORT || 8787),
})
console.log(`listening ${server.url}`)
