// The handler for Node, Bun and Deno. Its state is in the file DATABASE if that is set, otherwise in memory.
import process from 'node:process'
import type { Handler } from '../../../src/index.ts'
import { stdio } from '../../../src/runtimes/stdio.ts'
import { adminHandler, adminOptions } from '../../contracts/admin/service.ts'
import { stateAt } from './state.ts'

const { DATABASE } = process.env
const state = await stateAt(DATABASE)

export const handler: Handler = adminHandler(adminOptions(state, stdio))
