// Dies by `kill -9` as soon as it sends to a receiver, which is in it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { serve } from '../../../src/runtimes/node.ts'
import { handlerOn } from '../../contracts/webhooks/service.ts'
import { stateAt } from './state.ts'

const { DATABASE, PORT } = process.env
const receiver = createServer(() => process.kill(process.pid, 'SIGKILL'))
await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
const settings = `patient http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
const handler = handlerOn(await stateAt(DATABASE), settings)
const server = await serve(handler, { port: Number(PORT) })
console.log(`listening ${server.url}`)
