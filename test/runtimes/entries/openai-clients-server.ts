import { type Handler, memoryState } from '../../../src/index.ts'
import { openaiClientsHandler } from '../../contracts/openai-clients/service.ts'

export const handler: Handler = openaiClientsHandler(memoryState())
