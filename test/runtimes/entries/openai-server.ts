// What the server of Node serves: kept in the file DATABASE where that is set, else in memory.
import process from 'node:process'
import type { Handler } from '../../../src/index.ts'
import { openaiHandler, openaiOptions } from '../../contracts/openai/service.ts'
import { stateAt } from './state.ts'

const { DATABASE } = process.env
const state = await stateAt(DATABASE)

export const handler: Handler = openaiHandler(openaiOptions(state))
