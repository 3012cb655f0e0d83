// The handler for Node, Bun and Deno. SETTINGS is the address of the provider.
import process from 'node:process'
import { type Handler, memoryState } from '../../../src/index.ts'
import { sqliteState } from '../../../src/runtimes/sqlite.ts'
import { aiHandler, aiOptions } from '../../contracts/ai/service.ts'

const { DATABASE, SETTINGS = '' } = process.env
const state = DATABASE === undefined ? memoryState() : sqliteState({ path: DATABASE })

export const handler: Handler = aiHandler(aiOptions(state, SETTINGS))
