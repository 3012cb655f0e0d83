// The handler of `neighbours-server.ts` as a function has it: no server says when it begins, or ends.
import process from 'node:process'
import { serve } from '../../../src/runtimes/node.ts'
import { handler, tell } from './neighbours-server.ts'

tell(await serve((request, platform) => handler(request, platform), { port: Number(process.env.PORT) }))
