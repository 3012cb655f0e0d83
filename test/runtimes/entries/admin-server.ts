// The handler for Node, Bun and Deno. Its state is in the file DATABASE if that is set, otherwise in memory.
import process from 'node:process'
import { type Handler, memoryState } from '../../../src/index.ts'
import { sqliteState } from '../../../src/runtimes/sqlite.ts'
import { stdio } from '../../../src/runtimes/stdio.ts'
import { adminHandler, adminOptions } from '../../contracts/admin/service.ts'

const { DATABASE } = process.env
const state = DATABASE === undefined ? memoryState() : sqliteState({ path: DATABASE })

export const handler: Handler = adminHandler(adminOptions(state, stdio))
