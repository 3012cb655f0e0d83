import process from 'node:process'
import { memoryState } from '../../../src/index.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { openaiClientsHandler } from '../../contracts/openai-clients/service.ts'

const server = await serve(openaiClientsHandler(memoryState()), { port: Number(process.env.PORT) })
console.log(`listening ${server.url}`)
