import process from 'node:process'
import { serve } from '../../../src/runtimes/deno.ts'
import { handler } from './hosts-server.ts'

const server = await serve(handler, { port: Number(process.env.PORT) })
console.log(`listening ${server.url}`)
