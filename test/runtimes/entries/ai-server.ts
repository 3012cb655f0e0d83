// The handler for Node, Bun and Deno. SETTINGS is the address of the provider.
import process from 'node:process'
import type { Handler } from '../../../src/index.ts'
import { aiHandler, aiOptions } from '../../contracts/ai/service.ts'
import { stateAt } from './state.ts'

const { DATABASE, SETTINGS = '' } = process.env
const state = await stateAt(DATABASE)

export const handler: Handler = aiHandler(aiOptions(state, SETTINGS))
