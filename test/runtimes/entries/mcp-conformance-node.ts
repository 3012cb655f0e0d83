import process from 'node:process'
import { createHandler, memoryState } from '../../../src/index.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { conformance } from '../../contracts/mcp/conformance.ts'

const { serve: agents, plugin } = conformance()
const handler = createHandler({ serve: agents, registry: false, state: memoryState(), plugins: [plugin] })

const server = await serve(handler, { port: Number(process.env.PORT) })
console.log(`listening ${server.url}`)
