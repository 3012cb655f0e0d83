import process from 'node:process'
import { serve } from 'srvx/node'
import { outboundHandler } from '../../contracts/outbound/service.ts'

const server = serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  silent: true,
  fetch: outboundHandler,
})
await server.ready()
console.log(`listening http://127.0.0.1:${new URL(server.url ?? '').port}`)
