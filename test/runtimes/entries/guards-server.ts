// What the servers of Node, Bun and Deno serve: kept in the file DATABASE where that is set, else in memory.
import process from 'node:process'
import type { Handler } from '../../../src/index.ts'
import { guardsHandler, guardsOptions } from '../../contracts/guards/service.ts'
import { stateAt } from './state.ts'

export const handler: Handler = guardsHandler(guardsOptions(await stateAt(process.env.DATABASE)))
