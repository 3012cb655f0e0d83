// What the server of Node serves: kept in the file DATABASE where that is set, else in memory.
import process from 'node:process'
import { type Handler, memoryState } from '../../../src/index.ts'
import { sqliteState } from '../../../src/runtimes/sqlite.ts'
import { openaiHandler, openaiOptions } from '../../contracts/openai/service.ts'

const { DATABASE } = process.env
const state = DATABASE === undefined ? memoryState() : sqliteState({ path: DATABASE })

export const handler: Handler = openaiHandler(openaiOptions(state))
