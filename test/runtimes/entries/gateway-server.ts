// The handler for Node, Bun and Deno. Its state is in the file DATABASE if that is set, otherwise in memory.
import process from 'node:process'
import type { Handler } from '../../../src/index.ts'
import { gatewayHandler, gatewayOptions } from '../../contracts/gateway/service.ts'
import { stateAt } from './state.ts'

const { DATABASE, SETTINGS } = process.env
const state = await stateAt(DATABASE)

export const handler: Handler = gatewayHandler(gatewayOptions(state, SETTINGS))
