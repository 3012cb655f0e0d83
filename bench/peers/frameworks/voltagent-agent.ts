import { Agent } from '@voltagent/core'
import { createPinoLogger } from '@voltagent/logger'
import { model } from './model.ts'

export const logger = createPinoLogger({ name: 'bench', level: 'silent' })
export const agent = new Agent({ name: 'echo', instructions: 'Say it back', model, logger })
