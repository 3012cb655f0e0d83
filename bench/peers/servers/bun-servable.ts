import { serve } from '../../../src/runtimes/bun.ts'
import { handler } from '../service.ts'

const server = await serve(handler, { port: 0 })
console.log(`listening ${server.url}`)
