import { serve } from '../../src/runtimes/bun.ts'
import { echoServer } from './socket-echo.ts'
import { collect } from './socket-gc.ts'

const echo = echoServer()
const server = await serve(
  (request, platform) =>
    request.url.endsWith('/gc') ? new Response(collect()) : echo.fetch(request, platform),
  { port: Number(process.env.PORT ?? 0) },
)
console.log(`listening ${server.url}`)
