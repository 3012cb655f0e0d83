// No adapter: srvx serves the handler itself, and so does anything else that serves a fetch function on Node.
import process from 'node:process'
import { serve } from 'srvx/node'
import { createHandler } from '../../src/index.ts'
import * as agents from '../agents.ts'

const server = serve({
  hostname: '127.0.0.1',
  port: Number(process.env.PORT || 8787),
  silent: true,
  fetch: createHandler({ cors: true, serve: Object.values(agents) }),
})
await server.ready()
console.log(`listening ${server.url?.replace(/\/$/, '')}`)
