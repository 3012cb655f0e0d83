import process from 'node:process'
import { serve } from '../../../src/runtimes/deno.ts'
import { endWell, handler } from './closing-server.ts'

endWell(await serve(handler, { port: Number(process.env.PORT) }))
