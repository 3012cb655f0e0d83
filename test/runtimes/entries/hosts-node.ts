import process from 'node:process'
import { serve as bare } from 'srvx/node'
import { serve } from '../../../src/runtimes/node.ts'
import { handler } from './hosts-server.ts'

const port = Number(process.env.PORT)
if (process.env.BARE) {
  const server = await bare({ port, hostname: '127.0.0.1', silent: true, fetch: handler }).ready()
  console.log(`listening ${server.url?.slice(0, -1)}`)
} else console.log(`listening ${(await serve(handler, { port })).url}`)
