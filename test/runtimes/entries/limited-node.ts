import process from 'node:process'
import { serve } from '../../../src/runtimes/node.ts'
import { limitedHandler, limitedOptions } from '../../contracts/limited.ts'
import { stateAt } from './state.ts'

const { DATABASE, PORT } = process.env
const handler = limitedHandler(limitedOptions(await stateAt(DATABASE)))
const server = await serve(handler, { port: Number(PORT) })
console.log(`listening ${server.url}`)
