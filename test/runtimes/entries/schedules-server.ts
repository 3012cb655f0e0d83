// What the servers of Node, Bun and Deno serve: kept in the file DATABASE.
import process from 'node:process'
import type { Handler } from '../../../src/index.ts'
import { schedulesHandler, schedulesOptions } from '../../contracts/schedules/service.ts'
import { stateAt } from './state.ts'

const { DATABASE, SETTINGS } = process.env
const state = await stateAt(DATABASE)

export const handler: Handler = schedulesHandler(schedulesOptions(state, SETTINGS))
