import process from 'node:process'
import { type Handler, memoryState } from '../../../src/index.ts'
import { mcpClientsHandler } from '../../contracts/mcp-clients/service.ts'

export const handler: Handler = mcpClientsHandler(memoryState(), process.env.SETTINGS)
