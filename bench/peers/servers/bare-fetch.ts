/** A hand-written handler of Web-standard requests, on the same adapter as ours. */

import { serve } from 'srvx/node'
import { bareHandler } from '../bare.ts'

const server = serve({
  port: 0,
  hostname: '127.0.0.1',
  silent: true,
  gracefulShutdown: false,
  fetch: bareHandler,
})
await server.ready()
console.log(`listening http://127.0.0.1:${new URL(server.url ?? '').port}`)
