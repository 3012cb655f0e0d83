import { serve } from '../../src/runtimes/node.ts'
import { bare } from './handlers.ts'

const server = await serve(bare, { port: Number(process.env.PORT ?? 0) })
console.log(`listening ${server.url}`)
