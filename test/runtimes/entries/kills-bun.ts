import process from 'node:process'
import { serve } from '../../../src/runtimes/bun.ts'
import { handler, tell } from './kills-server.ts'

tell(await serve(handler, { port: Number(process.env.PORT) }))
