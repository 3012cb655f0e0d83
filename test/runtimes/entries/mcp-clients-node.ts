import process from 'node:process'
import { memoryState } from '../../../src/index.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { mcpClientsHandler } from '../../contracts/mcp-clients/service.ts'

const handler = mcpClientsHandler(memoryState(), process.env.SETTINGS)
const server = await serve(handler, { port: Number(process.env.PORT) })
console.log(`listening ${server.url}`)
