// What the servers of Node, Bun and Deno serve: kept in the file DATABASE where that is set, else in memory.
import process from 'node:process'
import { type Handler, memoryState } from '../../../src/index.ts'
import { sqliteState } from '../../../src/runtimes/sqlite.ts'
import { mcpHandler, mcpOptions } from '../../contracts/mcp/service.ts'

const { DATABASE, SETTINGS } = process.env
const state = DATABASE === undefined ? memoryState() : sqliteState({ path: DATABASE })

export const handler: Handler = mcpHandler(mcpOptions(state, SETTINGS))
