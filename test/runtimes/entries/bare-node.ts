import process from 'node:process'
import { serve } from 'srvx/node'
import { handler } from '../../contracts/fixture.ts'

const port = Number(process.env.PORT)
const server = serve({ port, hostname: '127.0.0.1', silent: true, fetch: handler })
await server.ready()
console.log(`listening http://127.0.0.1:${new URL(server.url ?? '').port}`)
