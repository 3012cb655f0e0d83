import process from 'node:process'
import { serve } from '../../../src/runtimes/bun.ts'
import { sqliteState } from '../../../src/runtimes/sqlite.ts'
import { handlerOver } from './plugin-server.ts'

const { PORT, DATABASE = '' } = process.env
const server = await serve(handlerOver(sqliteState({ path: DATABASE })), { port: Number(PORT) })
console.log(`listening ${server.url}`)
