// The handler for Node, Bun and Deno. Its state is in the file DATABASE if that is set, otherwise in memory.
import process from 'node:process'
import type { Handler } from '../../../src/index.ts'
import { clientHandler } from '../../contracts/a2a-client/service.ts'
import { stateAt } from './state.ts'

const { DATABASE, SETTINGS } = process.env

export const handler: Handler = clientHandler(await stateAt(DATABASE), SETTINGS)
