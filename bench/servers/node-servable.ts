import { serve } from '../../src/runtimes/node.ts'
import { servable } from './handlers.ts'

const server = await serve(servable, { port: Number(process.env.PORT ?? 0) })
console.log(`listening ${server.url}`)
