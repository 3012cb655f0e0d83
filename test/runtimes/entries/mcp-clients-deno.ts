import process from 'node:process'
import { memoryState } from '../../../src/index.ts'
import { serve } from '../../../src/runtimes/deno.ts'
import { mcpClientsHandler } from '../../contracts/mcp-clients/service.ts'

const server = await serve(mcpClientsHandler(memoryState()), { port: Number(process.env.PORT) })
console.log(`listening ${server.url}`)
