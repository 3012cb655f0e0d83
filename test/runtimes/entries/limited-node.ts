import process from 'node:process'
import { serve } from '../../../src/runtimes/node.ts'
import { sqliteState } from '../../../src/runtimes/sqlite.ts'
import { limitedHandler, limitedOptions } from '../../contracts/limited.ts'

const { DATABASE: path = ':memory:', PORT } = process.env
const server = await serve(limitedHandler(limitedOptions(sqliteState({ path }))), { port: Number(PORT) })
console.log(`listening ${server.url}`)
