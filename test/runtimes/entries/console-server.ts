// What the servers of Node, Bun and Deno serve: kept in the file DATABASE where that is set, else in memory.
import process from 'node:process'
import type { Handler } from '../../../src/index.ts'
import { consoleHandler } from '../../contracts/console/service.ts'
import { stateAt } from './state.ts'

const { DATABASE, SETTINGS } = process.env

export const handler: Handler = consoleHandler(SETTINGS, await stateAt(DATABASE))
