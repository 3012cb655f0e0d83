// What the servers of Node, Bun and Deno serve: kept in the file DATABASE where that is set, else in memory.
import process from 'node:process'
import type { Handler } from '../../../src/index.ts'
import { commandHandler } from '../../contracts/command/service.ts'
import { stateAt } from './state.ts'

export const handler: Handler = commandHandler(await stateAt(process.env.DATABASE))
