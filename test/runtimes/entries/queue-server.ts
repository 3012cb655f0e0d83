// What the servers of Node, Bun and Deno serve: kept in the file DATABASE where that is set, else in memory.
import process from 'node:process'
import type { Handler } from '../../../src/index.ts'
import { queueHandler, queueOptions } from '../../contracts/queue/service.ts'
import { stateAt } from './state.ts'

const { DATABASE, SETTINGS } = process.env
const state = await stateAt(DATABASE)

export const handler: Handler = queueHandler(queueOptions(state, SETTINGS))
